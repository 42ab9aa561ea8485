import BledRPC
import FoundationEssentials
import Testing

/// `bleshell l2cap` as a process of its own.
@Suite(.serialized) struct BleshellChannelTests {
  @Test("What goes to an echoing device comes back, by standard input and by files")
  func echo() throws {
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell("l2cap", "open", "Echo", "128", "--count", "6", input: "hello\n")
    #expect(run.status == 0 && run.output == "hello\n", "\(run.errors)")
    let enhanced = try daemon.bleshell(
      "l2cap", "open", "Echo", "128", "--mode", "enhanced", "--count", "6", input: "hello\n")
    #expect(enhanced.status == 0 && enhanced.output == "hello\n", "\(enhanced.errors)")
    let (sent, received) = ("\(daemon.folder.path)/sent", "\(daemon.folder.path)/received")
    let text = String(repeating: "0123456789abcdef", count: 2048)
    try ChildProcess.write(text, to: sent)
    let files = try daemon.bleshell(
      "l2cap", "open", "Echo", "128", "--send", sent, "--receive", received, "--count", "\(text.utf8.count)")
    #expect(files.status == 0 && files.errors.contains("32768 octets sent, 32768 received"), "\(files.errors)")
    #expect(try Data(contentsOf: URL(filePath: received)) == Data(text.utf8))
  }

  @Test("A number that the device does not have is refused, and a channel of a phone is received")
  func others() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [{ name: 'Deaf', address: 'C0:DE:00:00:00:01', addressType: 'random',
            advertising: { name: 'Deaf' } }],
          phones: [{ name: 'Phone', address: 'C0:DE:00:00:01:01', addressType: 'random', stay: 60,
            script: [{ do: 'openChannel', psm: 128, text: 'Hello' }] }] }
        """)
    let refused = try daemon.bleshell("l2cap", "open", "Deaf", "128")
    #expect(refused.status == 1 && refused.errors.contains("does not listen on PSM 128"), "\(refused.errors)")
    let client = try daemon.client()
    let listener = try daemon.start(["l2cap", "listen", "--psm", "128", "--count", "5"])
    try eventually("it listens") { listener.errors.contains("listening on PSM 128 of \(daemon.adapter(0))") }
    _ = try client.call(AdvertisingStart.self, .init(name: "bled"))
    #expect(try listener.exitStatus() == 0 && listener.output == "Hello", "\(listener.errors)")
  }
}
