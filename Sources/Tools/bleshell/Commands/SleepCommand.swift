import ArgumentParser

/// `bleshell sleep`
struct SleepCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "sleep", abstract: "Waits for some seconds (in line mode and in files for run).")

  @Argument(help: "How many seconds, such as 0.5.") var seconds: Double
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard seconds >= 0, seconds <= 86_400 else { throw ValidationError("the time must be 0 to 86400 seconds") }
  }

  func run(in shell: Shell) async throws {
    let progress = output(of: shell).progress("Waiting for \(shortNumber(seconds)) s")
    defer { progress.end() }
    try await Task.sleep(for: .seconds(seconds))
  }
}
