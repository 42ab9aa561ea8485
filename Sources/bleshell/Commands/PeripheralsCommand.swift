import ArgumentParser
import BledRPC

/// `bleshell peripherals`
struct PeripheralsCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "peripherals", abstract: "Lists the devices that bled knows.",
    discussion: "Those that it heard or connected recently, and those that were connected before it started.")

  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let peripherals = try await shell.connection().call(PeripheralList.self, Empty()).peripherals
    if output.json {
      for peripheral in peripherals { try output.object(peripheral) }
      return
    }
    var table = Table(
      .init(heading: "NAME"), .init(heading: "ADDRESS"), .init(heading: "RSSI", right: true), .init(heading: "STATE"),
      .init(heading: "ADAPTER"), .init(heading: "IDENTIFIER"))
    for peripheral in peripherals {
      let mine = peripheral.mine ? ", here" : ""
      table.rows.append([
        .init(text: peripheral.name ?? "-", style: .bold),
        .init(text: "\(peripheral.address) \(peripheral.addressType)"),
        .init(text: peripheral.rssi.map(String.init) ?? "-"),
        .init(text: peripheral.state + mine, style: peripheral.state == "connected" ? .good : .plain),
        .init(text: peripheral.adapter), .init(text: peripheral.peripheral, style: .dim),
      ])
    }
    table.lines(output).forEach(output.line)
  }
}
