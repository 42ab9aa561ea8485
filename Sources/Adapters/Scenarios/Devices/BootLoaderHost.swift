import Adapter
import Bluetooth
import NordicDFU
import ScenarioRules

/// Runs Secure DFU of a simulated device, over the links of its application and of its boot loader.
package final class BootLoaderHost {
  /// Sends a value over the present link; false if there is no room for it.
  package var send: ([UInt8], BluetoothUUID) -> Bool = { _, _ in true }
  /// Ends the link.
  package var disconnect: () -> Void = {}
  /// The device restarts, with its boot loader or its application, and is away for so long.
  package var restart: (_ inBootLoader: Bool, _ name: String?, Duration) -> Void = { _, _, _ in }

  /// The time between an answer and the restart.
  private static let pause = Duration.milliseconds(100)
  /// The maximum of values that wait for room.
  private static let mostWaiting = 1024

  private let context: SimulationContext
  private let restartTime: TimeSpan
  private var server: BootLoaderServer
  private var generator: SeededGenerator
  private var waiting: [(octets: [UInt8], characteristic: BluetoothUUID)] = []
  private var isRestarting = false

  package init(_ description: BootLoaderDescription, of address: DeviceAddress, in context: SimulationContext) {
    self.context = context
    restartTime = description.restartTime
    generator = context.generator(Stream.firmware.of(address, 2))
    server = BootLoaderServer(description)
  }

  package func received(_ octets: [UInt8], on characteristic: BluetoothUUID) {
    for action in server.received(octets, on: characteristic) {
      switch action {
      case .answer(let octets, let characteristic):
        guard waiting.count < Self.mostWaiting else { continue }
        waiting.append((octets, characteristic))
        // The answer does not leave from within the packet that it answers.
        context.scheduler.schedule(after: .zero) { [weak self] in self?.flush() }
      case .disconnect: disconnect()
      case .enter(let name): restartSoon(inBootLoader: true, name)
      case .leave: restartSoon(inBootLoader: false, nil)
      }
    }
  }

  package func linkEnded() {
    waiting = []
    server.linkEnded()
  }

  /// There is room on the link.
  func flush() {
    while let next = waiting.first, send(next.octets, next.characteristic) { waiting.removeFirst() }
  }

  private func restartSoon(inBootLoader: Bool, _ name: String?) {
    guard !isRestarting else { return }
    isRestarting = true
    context.scheduler.schedule(after: Self.pause) { [weak self] in
      guard let self else { return }
      isRestarting = false
      restart(inBootLoader, name, restartTime.draw(&generator))
    }
  }
}
