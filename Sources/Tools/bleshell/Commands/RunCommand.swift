import ArgumentParser
import FoundationEssentials
import Glibc
import JSONFiles

/// `bleshell run`
struct RunCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the commands in a file, until the first one that fails.",
    discussion: """
      Each line is a command as in line mode. "expect" and "listen" wait for events of devices. The exit status is that of \
      the command that failed: 2 if something that was expected did not happen, 64 for an invalid line, otherwise 1.
      """)

  @Argument(help: "The file.", completion: .file()) var file: String
  @Option(help: "Write the lines as test cases to this file, in the XML format of JUnit.", completion: .file())
  var junit: String?
  @Flag(help: "Print a result for each line, in the Test Anything Protocol, and all else as its comments.")
  var tap = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    guard let data = FileManager.default.contents(atPath: file) else {
      let reason = access(file, R_OK) == 0 ? "it is not a file" : String(cString: strerror(errno))
      throw Failure("\(file) cannot be read: \(reason)")
    }
    guard data.count <= 1 << 20, let text = String(validating: data, as: UTF8.self) else {
      throw Failure("\(file) is not text in UTF-8 of at most 1 MiB")
    }
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    let output = output(of: shell)
    var report = JUnitReport(suite: file)
    var results = TAPReport()
    let before = shell.output
    defer { shell.output = before }
    if tap {
      output.line(TAPReport.heading)
      shell.output = before.commented
    }
    let result: Result<Void, any Error>
    var isInterrupted = false
    do {
      result = .success(
        try await LineMode(shell: shell).runScript(lines, name: file) { number, line, outcome, seconds in
          report.add(number, line, outcome, seconds: seconds)
          if tap { results.lines(number, line, outcome).forEach(output.line) }
        })
    } catch {
      result = .failure(error)
      isInterrupted = (error as? Failure)?.status == 130
    }
    // Without it readers know that results are missing.
    if tap, !isInterrupted { output.line(results.plan) }
    guard let junit else { return try result.get() }
    do {
      try Data(report.xml.utf8).write(to: URL(filePath: junit), options: .atomic)
    } catch {
      throw Failure("\(junit) cannot be written: \(String(cString: strerror(errno)))")
    }
    try result.get()
  }
}
