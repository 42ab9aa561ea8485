import Adapter
import AdapterParts
import Bluetooth
import Glibc

@testable import KernelAdapter

/// Plays the kernel: the numbers that it refuses, and the channels that devices open.
final class ScriptedChannels: ChannelSockets {
  var refused: [UInt16: Int32] = [:]
  var open: [UInt16: ScriptedChannelSocket] = [:]
  var addresses: [DeviceAddress] = []

  func listen(
    on psm: UInt16, _ parameters: ChannelParameters, at address: DeviceAddress, _ offered: @escaping () -> Void
  ) throws(SystemError) -> any ChannelSocket {
    addresses.append(address)
    if let code = refused[psm] { throw SystemError(result: -code) }
    if open[psm]?.isOpen == true { throw SystemError(result: -EADDRINUSE) }
    let socket = ScriptedChannelSocket(offered)
    open[psm] = socket
    return socket
  }
}

/// A socket that listens for channels.
final class ScriptedChannelSocket: ChannelSocket {
  let offered: () -> Void
  var isAccepting = true
  private(set) var isOpen = true
  private var waiting: [Result<AcceptedChannel, SystemError>] = []

  init(_ offered: @escaping () -> Void) { self.offered = offered }

  func accept() throws(SystemError) -> AcceptedChannel? { waiting.isEmpty ? nil : try waiting.removeFirst().get() }

  func close() { isOpen = false }

  /// A device opens a channel, or the kernel has none to give.
  func offer(_ result: Result<AcceptedChannel, SystemError>) {
    waiting.append(result)
    offered()
  }
}
