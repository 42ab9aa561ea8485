import ArgumentParser
import BledClient
import BledRPC
import Capture
import Glibc

/// `bleshell capture`
struct CaptureCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture", abstract: "Records the packets of all programs for Wireshark, tshark or btmon.",
    discussion: """
      A file that ends in .pcapng is for Wireshark, one in .btsnoop for btmon -r and Wireshark. With - the recording goes \
      to standard output: bleshell capture - | wireshark -k -i -. Notes in it say which session called what. It runs \
      until Ctrl-C. Keys are replaced by zeros without --keys. You need the permission "capture" in bled's configuration, \
      and for --keys also "sessions".
      """)

  @Argument(help: "The file, or - for standard output.", completion: .file()) var file: String
  @Option(help: "The format (default: by the file's suffix; pcapng for standard output).") var format: CaptureFormat?
  @Option(help: "Only this adapter.", completion: ShellCompletion.adapters) var adapter: String?
  @Option(help: "Stop after this many seconds.") var time: Double?
  @Flag(help: "Record keys, too: with them the traffic can be decrypted.") var keys = false
  @Flag(help: "Replace a file that exists.") var replace = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    try checkTime(time)
    _ = try chosenFormat
  }

  /// The requested format, or the one of the file's name.
  private var chosenFormat: CaptureFormat {
    get throws {
      if let format { return format }
      let suffix = file.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last.map { String($0) }
      switch suffix {
      case _ where file == "-": return .pcapng
      case "pcapng": return .pcapng
      case "btsnoop", "snoop": return .btsnoop
      default: throw ValidationError("\(file) ends neither in .pcapng nor in .btsnoop: give --format")
      }
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let isPipe = file == "-"
    guard !isPipe || !output.isTerminal else {
      throw Failure("a recording is not for terminals: give a file, or a program behind |", status: 64)
    }
    let pipe = isPipe ? try output.descriptor() : nil
    try checkFile()
    let client = try await shell.connection()
    let (capture, received) = try await client.startCapture(
      format: try chosenFormat, adapter: adapter, keys: keys)
    guard let descriptor = received.take() else { return }
    let sink = pipe ?? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard sink >= 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw Failure("\(file): \(reason)")
    }
    defer { if !isPipe { close(sink) } }
    let progress = output.progress("recording to \(isPipe ? "standard output" : file), Ctrl-C ends it")
    defer { progress.end() }
    let reading = RecordingReader(descriptor) { octets in
      Self.write(octets, to: sink) ? nil : String(cString: strerror(errno))
    }
    await reading.wait(atMost: time)
    // Also after Ctrl-C, which is the regular end.
    let stopped = await Task { try await client.stopCapture(capture) }.result
    let problem = await reading.problem
    progress.end()
    // A recording that cannot be written ends.
    if let problem { throw Failure("\(file): \(problem)") }
    let result = try stopped.get()
    let missing = result.lost > 0 ? ", \(result.lost) missing: they were not read in time" : ""
    output.problem("\(result.packets) packets recorded\(missing)")
  }

  /// An earlier recording is not lost by mistake; a pipe or a device is no recording.
  private func checkFile() throws {
    var properties = stat()
    guard file != "-", !replace, stat(file, &properties) == 0, properties.st_mode & S_IFMT == S_IFREG,
      properties.st_size > 0
    else { return }
    throw Failure("\(file) exists: choose another name, or add --replace", status: 64)
  }

  /// Writes all of it, however slowly it is read.
  /// - Returns: false with errno if that is not possible.
  static func write(_ octets: ArraySlice<UInt8>, to sink: Int32) -> Bool {
    var rest = octets
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(sink, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        // Standard output may be non-blocking, as the parent process left it.
        var room = pollfd(fd: sink, events: Int16(POLLOUT), revents: 0)
        _ = poll(&room, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
