import ArgumentParser
import BledRPC
import Bluetooth

extension SimulationCommand {
  struct Written: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "written", abstract: "Lists the values written to simulated devices.")
    @Argument(help: "The device (default: all).") var name: String?
    @Option(help: "Only writes with a higher number.") var after: Int?
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      let output = output(of: shell)
      var writes: [SimulationWrite] = []
      var page: [SimulationWrite]
      repeat {
        page = try await shell.connection().call(
          SimulationWritten.self, .init(device: name, after: writes.last?.number ?? after)
        ).writes
        writes += page
      } while page.count == SimulationWritten.limit
      if output.json {
        for write in writes { try output.object(write) }
        return
      }
      var table = Table(
        .init(heading: "NUMBER", right: true), .init(heading: "TIME", right: true), .init(heading: "DEVICE"),
        .init(heading: "CHARACTERISTIC"), .init(heading: "OPERATION"), .init(heading: "VALUE"))
      for write in writes {
        table.rows.append([
          .init(text: "\(write.number)"), .init(text: "\(write.time)"), .init(text: write.device, style: .bold),
          .init(text: "\(write.characteristic)"), .init(text: write.operation.text),
          .init(text: Hex.encode(write.value.octets)),
        ])
      }
      table.lines(output).forEach(output.line)
    }
  }

  struct Visit: ShellCommand {
    static let configuration = CommandConfiguration(
      commandName: "visit", abstract: "Has a phone visit an advertisement, and prints its steps.",
      discussion: "The command ends with the phone's link; with a manual clock another program moves the clock.")
    @Argument(help: "The phone as in the file: '{ name: \"Phone\", address: \"…\", script: [{ do: \"read\" }] }'.")
    var phone: String
    @OptionGroup(title: "Common options") var global: GlobalOptions

    func run(in shell: Shell) async throws {
      let output = output(of: shell)
      let visit = try await shell.connection().call(
        SimulationVisit.self, .init(phone: phone), timeout: .seconds(3600))
      if output.json { return try output.object(visit) }
      var table = Table(
        .init(heading: "TIME", right: true), .init(heading: "STEP"), .init(heading: "CHARACTERISTIC"),
        .init(heading: "OUTCOME"))
      table.flexible = 3
      for step in visit.steps {
        table.rows.append([
          .init(text: "\(step.time)"), .init(text: step.action.text, style: .bold),
          .init(text: step.characteristic.map { "\($0)" } ?? "-"),
          .init(
            text: step.error?.message ?? step.value.map { Hex.encode($0.octets) } ?? "ok",
            style: step.error == nil ? .plain : .bad),
        ])
      }
      table.lines(output).forEach(output.line)
      if !visit.complete { throw Failure("the link ended before the end of the script") }
    }
  }
}
