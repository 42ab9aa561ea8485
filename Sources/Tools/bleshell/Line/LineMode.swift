import ArgumentParser
import BledRPC
import Glibc
import ValueFormats

/// Reads commands and runs them one after the other.
///
/// A terminal has history and completion. From a pipe it reads one command per line: a failed command is reported with
/// its line number, the following ones run nevertheless, and the exit status is the first failure's.
@MainActor struct LineMode {
  let shell: Shell

  func run() async throws {
    shell.isLineMode = true
    if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, Output.drawsScreens {
      try await runTerminal()
    } else {
      try await runPipe()
    }
  }

  private func runTerminal() async throws {
    // At the prompt Ctrl-C is a key; a signal from elsewhere does nothing there.
    let interrupt = Interrupt { Interrupt.listen() }
    defer { interrupt.end() }
    let shell = shell
    let editor = LineEditor(output: shell.output) {
      prompt
    } complete: {
      await complete($0)
    }
    shell.announce = { editor.above($0) }
    shell.show = { editor.above(line: $0) }
    defer { (shell.announce, shell.show) = (nil, nil) }
    shell.output.line("Type help for the commands, quit to leave; Tab completes.")
    while let line = await editor.readLine() {
      if await perform(line) == nil { return }
    }
  }

  private var prompt: String { shell.devices.current.map { "\(Output.clean($0.label))> " } ?? "bleshell> " }

  private func runPipe() async throws {
    var status: Int32 = 0
    var number = 0
    // A terminal with lines only, such as the shell of Emacs, or one for a screen reader.
    let isPerson = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    if isPerson { shell.output.text(prompt) }
    defer { if isPerson { shell.output.line("") } }
    for await line in InputLines.lines() {
      defer { if isPerson { shell.output.text(prompt) } }
      number += 1
      let place = number
      guard let result = await perform(line) else { break }
      if result == 130 { throw Failure("", status: 130) }
      if result != 0 {
        if !isPerson { shell.output.problem("line \(place) failed: \(line)") }
        if status == 0 { status = result }
      }
    }
    if status != 0 { throw Failure("", status: status) }
  }

  /// Runs lines until one fails.
  /// - Parameters:
  ///   - name: Their name in messages.
  ///   - report: Called for each line with a command: its number, its text, its outcome, and its duration in seconds.
  func runScript(
    _ lines: [String], name: String, report: (Int, String, LineOutcome, Double) -> Void = { _, _, _, _ in }
  ) async throws {
    guard shell.scripts < Self.maximumScripts else { throw Failure("\(name): files that run each other", status: 64) }
    let wasLineMode = shell.isLineMode
    shell.isLineMode = true
    shell.scripts += 1
    defer { (shell.isLineMode, shell.scripts) = (wasLineMode, shell.scripts - 1) }
    for (index, line) in lines.enumerated() {
      let start = ContinuousClock.now
      guard let result = await perform(line) else { return }
      if result == 130 { throw Failure("", status: 130) }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      if result == 0, Self.isCommand(line) { report(index + 1, line, .passed, seconds) }
      guard result != 0 else { continue }
      report(index + 1, line, .failed(shell.lastFailure ?? "exit status \(result)"), seconds)
      for (number, rest) in lines.enumerated().dropFirst(index + 1) where Self.isCommand(rest) {
        report(number + 1, rest, .skipped, 0)
      }
      throw Failure("\(name):\(index + 1) failed: \(line)", status: result)
    }
  }

  /// True if there is a command in a line.
  static func isCommand(_ line: String) -> Bool { !CommandWords(line).words.isEmpty }

  /// Maximum nesting of files that run others.
  private static let maximumScripts = 8

  /// Runs a line.
  /// - Returns: The status; nil for a line that ends the shell.
  private func perform(_ line: String) async -> Int32? {
    do {
      let command = try parse(line)
      if case .quit = command { return nil }
      return await perform(command)
    } catch {
      return await shell.perform(json: line.split(separator: " ").contains("--json")) { throw error }
    }
  }

  private enum Command {
    case nothing
    case clear
    case quit
    case command(any ShellCommand)
  }

  private func perform(_ command: Command) async -> Int32 {
    switch command {
    case .nothing, .quit: return 0
    case .clear:
      if shell.output.isTerminal, Output.drawsScreens { shell.output.text("\u{1B}[H\u{1B}[2J") }
      return 0
    case .command(let command):
      return await shell.perform(json: command.global.json) { try await command.run(in: shell) }
    }
  }

  private func parse(_ line: String) throws -> Command {
    var words: [String]
    if line.first == "{" {
      words = ["raw", "--", line]
    } else if line.hasPrefix("raw {") {
      words = ["raw", "--", String(line.dropFirst(4))]
    } else {
      words = try CommandWords(line).complete()
    }
    guard let first = words.first else { return .nothing }
    if words.count == 1, first == "quit" || first == "exit" { return .quit }
    if words.count == 1, first == "clear" { return .clear }
    if first == "?" { words[0] = "help" }
    let command = try shell.language.parse(words)
    guard let command = command as? any ShellCommand, type(of: command) != shell.language.root else {
      var other = command
      try other.run()
      return .nothing
    }
    guard command.global.socket == nil else {
      throw Failure("--socket cannot be changed here: give it when you start bleshell", status: 64)
    }
    return .command(command)
  }

  /// The completion that Tab offers. The characteristics of the current device are discovered for it.
  private func complete(_ line: String) async -> Completion? {
    let words = CommandWords(line)
    guard let last = words.last else { return nil }
    switch CompletionPlace(words, commands: shell.language.list) {
    case .words(let candidates): return Completion(last, among: candidates)
    case .devices: return Completion(last, among: await knownNames())
    case .attributes(let use, let name):
      let device = name.map { shell.devices.find($0) } ?? shell.devices.current
      let attributes = (try? await device?.tree())?.words(for: use, device?.naming ?? AttributeNaming()) ?? []
      if let completion = Completion(last, among: attributes) { return completion }
      return name == nil ? Completion(last, among: await knownNames()) : nil
    }
  }

  /// The names of the devices that the daemon already knows, and the names that the user gives.
  private func knownNames() async -> [String] {
    let names = shell.names()
    // Without a daemon only the user's are known.
    let entries = try? await shell.connection().call(PeripheralList.self, Empty(), timeout: .seconds(1)).peripherals
    return (entries ?? []).compactMap { names.name(ofDevice: $0.address) ?? $0.name } + names.deviceNames
  }
}
