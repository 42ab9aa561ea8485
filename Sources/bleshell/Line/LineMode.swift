import ArgumentParser
import BledRPC
import Glibc

/// Reads commands and runs them one after the other.
///
/// On a terminal there are history and completion. From a pipe it reads one command per line: one that fails is
/// reported with its line number, the following ones run nevertheless, and the exit status is that of the first
/// failure.
@MainActor struct LineMode {
  let shell: Shell

  func run() async throws {
    if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
      try await runTerminal()
    } else {
      try await runPipe()
    }
  }

  private func runTerminal() async throws {
    let editor = LineEditor()
    // At the prompt libedit handles Ctrl-C: it discards the line.
    let interrupt = Interrupt { Interrupt.listen() }
    defer { interrupt.end() }
    shell.output.line("Type help for the commands, quit to leave; Tab completes.")
    while true {
      for news in shell.takeNews() { shell.output.line(news) }
      Completion.update(devices: await knownNames(), attributes: shell.current?.knownTree ?? [])
      let prompt = shell.current.map { "\(Output.clean($0.name))> " } ?? "bleshell> "
      guard let line = await editor.readLine(prompt) else {
        shell.output.line("")
        return
      }
      guard let command = try? parse(line) else {
        _ = await shell.perform { _ = try parse(line) }
        continue
      }
      if case .quit = command { return }
      _ = await perform(command)
    }
  }

  private func runPipe() async throws {
    var status: Int32 = 0
    var number = 0
    for await line in InputLines.lines() {
      number += 1
      let place = number
      let result: Int32
      do {
        let command = try parse(line)
        if case .quit = command { break }
        result = await perform(command)
      } catch {
        result = await shell.perform { throw error }
      }
      if result == 130 { throw Failure("", status: 130) }
      if result != 0 {
        shell.output.problem("line \(place) failed: \(line)")
        if status == 0 { status = result }
      }
    }
    if status != 0 { throw Failure("", status: status) }
  }

  private enum Command {
    case nothing
    case quit
    case command(any ShellCommand)
  }

  private func perform(_ command: Command) async -> Int32 {
    guard case .command(let command) = command else { return 0 }
    return await shell.perform { try await command.run(in: shell) }
  }

  private func parse(_ line: String) throws -> Command {
    let words: [String]
    if line.first == "{" {
      words = ["raw", "--", line]
    } else if line.hasPrefix("raw {") {
      words = ["raw", "--", String(line.dropFirst(4))]
    } else {
      words = try splitWords(line)
    }
    guard let first = words.first else { return .nothing }
    if words.count == 1, first == "quit" || first == "exit" { return .quit }
    let command = try Bleshell.parseAsRoot(words)
    guard let command = command as? any ShellCommand, !(command is Bleshell) else {
      var other = command
      try other.run()
      return .nothing
    }
    guard command.global.socket == nil else {
      throw Failure("--socket cannot be changed here: give it when you start bleshell", status: 64)
    }
    return .command(command)
  }

  private func knownNames() async -> [String] {
    // Only devices that the daemon already knows; without a daemon there is nothing to complete.
    let entries = try? await shell.connection().call(PeripheralList.self, Empty(), timeout: .seconds(1)).peripherals
    return (entries ?? []).compactMap(\.name)
  }
}

/// Splits a line into words as a shell does: at blanks, unless they are quoted with '…', "…" or \. A # at the start of
/// a word begins a comment.
/// - Throws: `Failure` if a quotation mark is not closed.
private func splitWords(_ line: String) throws -> [String] {
  var words: [String] = []
  var word: String?
  var quote: Character?
  var escaped = false
  for character in line {
    if escaped {
      word = (word ?? "") + String(character)
      escaped = false
    } else if character == "\\", quote != "'" {
      escaped = true
    } else if let open = quote {
      if character == open { quote = nil } else { word = (word ?? "") + String(character) }
    } else if character == "'" || character == "\"" {
      quote = character
      word = word ?? ""
    } else if character == " " || character == "\t" || character == "\r" {
      if let whole = word { words.append(whole) }
      word = nil
    } else if character == "#", word == nil {
      break
    } else {
      word = (word ?? "") + String(character)
    }
  }
  if let quote { throw Failure("the closing \(quote) is missing", status: 64) }
  if let word { words.append(word) }
  return words
}
