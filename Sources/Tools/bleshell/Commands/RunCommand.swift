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
    guard let junit else { return try await LineMode(shell: shell).runScript(lines, name: file) }
    var report = JUnitReport(suite: file)
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await LineMode(shell: shell).runScript(lines, name: file) { report.add($0, $1, $2, seconds: $3) })
    } catch {
      result = .failure(error)
    }
    do {
      try Data(report.xml.utf8).write(to: URL(filePath: junit), options: .atomic)
    } catch {
      throw Failure("\(junit) cannot be written: \(String(cString: strerror(errno)))")
    }
    try result.get()
  }
}
