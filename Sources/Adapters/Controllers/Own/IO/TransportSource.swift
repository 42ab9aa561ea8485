import Bluetooth
import EventLoop
import Glibc
import HCI

/// Opens the transports to one controller, one at a time.
package protocol TransportSource: AnyObject {
  /// The controller's name for drivers; empty if it has none.
  var modalias: String { get }
  /// Opens a transport; its events follow `start`.
  /// - Throws: `SystemError`, such as ENOENT or ECONNREFUSED when there is no controller.
  func open() throws(SystemError) -> any PacketTransport
}

/// Transports over descriptors of this machine.
final class SystemTransports: TransportSource {
  private let address: ControllerAddress
  private let sockets: any UserChannelSockets
  private let loop: EventLoop
  private let scheduler: any Scheduler
  /// Runs the blocking opening and closing of user channels.
  private let worker: Worker

  /// - Parameter sockets: used to take a controller from the kernel.
  init(
    _ address: ControllerAddress, of sockets: any UserChannelSockets, on loop: EventLoop, by scheduler: any Scheduler
  ) {
    self.address = address
    self.sockets = sockets
    self.loop = loop
    self.scheduler = scheduler
    worker = Worker(loop: loop)
  }

  var modalias: String {
    switch address {
    case .h4, .virtual: ""
    case .user(let number): sockets.modalias(of: ControllerIndex(rawValue: number))
    }
  }

  func open() throws(SystemError) -> any PacketTransport {
    switch address {
    case .h4(let transport): return try H4Stream(to: transport, on: loop, by: scheduler)
    case .user(let number):
      return UserChannel(ControllerIndex(rawValue: number), of: sockets, by: worker, on: loop, scheduler)
    // Its process has other transports for it.
    case .virtual: throw SystemError(result: -ENODEV)
    }
  }
}
