import BledRPC
import Glibc
import Testing

/// Values over time: `bleshell subscribe --plot`, `--keep`, and comma-separated values.
@Suite(.serialized) struct BleshellPlotTests {
  @Test("a plot on the whole screen goes on over a lost link, and q prints what there was")
  func plot() throws {
    let daemon = try DaemonProcess()
    let plot = try TerminalProcess(daemon, ["subscribe", "Heart Belt", "2A37", "--plot", "--keep"])
    try plot.wait(for: "\u{1B}[?1049h")
    try plot.wait(for: "2 values")
    try plot.wait(for: " bpm")
    #expect(plot.output.contains("┤") && plot.output.contains("└──") && plot.output.contains("now"))
    _ = try daemon.client().call(AdapterPower.self, .init(adapter: nil, on: false))
    try plot.wait(for: "adapter \(daemon.adapter(0)) is off")
    _ = try daemon.client().call(AdapterPower.self, .init(adapter: nil, on: true))
    plot.forget()
    try plot.wait(for: "q ends")
    plot.resize(20, 5)
    plot.type("q")
    #expect(try plot.exitStatus() == 0)
    let after = plot.output.components(separatedBy: "\u{1B}[?1049l").last ?? ""
    #expect(after.contains("Heart Belt: Heart Rate Measurement (2A37): ") && after.contains(", average "), "\(after)")
    #expect(plot.isSane)
  }

  @Test("what is not a number, or not on a terminal, is not plotted, and the reason is said")
  func refused() throws {
    let daemon = try DaemonProcess()
    let plain = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--plot")
    #expect(plain.status == 64 && plain.errors.contains("--plot needs a terminal; try --csv"))
    let both = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--plot", "--csv")
    #expect(both.status == 64 && both.errors.contains("give one of them"))
    let shell = try TerminalProcess(daemon, environment: ["NO_COLOR": ""])
    shell.type("connect Echo\nsubscribe B1ED0002 --plot --time 600\n")
    try shell.wait(for: "Waiting for the first value")
    _ = try daemon.bleshell("write", "Echo", "B1ED0002", "7a")
    try shell.wait(for: "sent 7a, which is not known as a number: try without --plot")
    shell.type("quit\n")
    #expect(try shell.exitStatus() == 0)
    #expect(shell.isSane)
  }

  @Test("watch --csv has the time, the number of links with its unit, and the event")
  func watch() throws {
    let daemon = try DaemonProcess()
    let watch = try daemon.start(["watch", "--csv"])
    try eventually("bleshell watches") { watch.output.hasPrefix("time,date,number,unit,peripheral,name,event\n") }
    _ = try daemon.bleshell("read", "Echo", "2A00")
    try eventually("the end of the link is shown") { watch.output.hasSuffix("disconnected\n") }
    watch.send(signal: SIGINT)
    #expect(try watch.exitStatus() == 0)
    let lines = watch.output.split(separator: "\n").dropFirst().map { $0.split(separator: ",").dropFirst(2) }
    #expect(lines.map { "\($0.first ?? "") \($0.last ?? "")" } == ["1 connected", "0 disconnected"], "\(lines)")
    #expect(lines.first?.dropFirst().first == "links" && lines.first?.contains("Echo") == true)
  }
}
