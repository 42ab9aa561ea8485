import Adapter
import Bluetooth
import Glibc

/// The numbers under which devices open channels to this machine (PSM), each with its listener.
///
/// A number is published whether or not the controller is in use; its socket is opened with the controller, and once
/// more when the controller returns, perhaps with another address.
final class ChannelListeners {
  private struct Listener {
    let parameters: ChannelParameters
    /// Nil while the controller is not in use.
    var socket: (any ChannelAcceptor)?
  }

  /// A log entry: a sentence, the number and an errno.
  typealias Warning = (_ text: String, _ psm: UInt16, _ errno: Int32) -> Void

  /// The pause after the process ran out of descriptors.
  private static let pause = Duration.milliseconds(500)

  /// Called for each channel that a device opens.
  var onChannel: ((_ psm: UInt16, _ channel: Descriptor, _ handle: UInt16) -> Void)?
  var onWarning: Warning?

  private let sockets: any ChannelSockets
  private let scheduler: any Scheduler
  private var listeners: [UInt16: Listener] = [:]

  init(_ sockets: any ChannelSockets, scheduler: any Scheduler) {
    self.sockets = sockets
    self.scheduler = scheduler
  }

  /// Listens for channels.
  /// - Parameters:
  ///   - psm: the number; nil for a free one.
  ///   - address: the controller's; nil while it is not in use.
  ///   - adapter: its name, for errors.
  /// - Returns: the number.
  func publish(
    _ psm: UInt16?, _ parameters: ChannelParameters, at address: DeviceAddress?, of adapter: String
  ) throws(BluetoothError) -> UInt16 {
    // The kernel itself assigns numbers from the lowest on, to connecting sockets as well.
    let candidates = psm.map { [$0] } ?? ChannelParameters.dynamic.reversed()
    for psm in candidates where listeners[psm] == nil {
      var listener = Listener(parameters: parameters)
      if let address {
        do throws(SystemError) {
          listener.socket = try listen(on: psm, parameters, at: address)
        } catch {
          if error.code == EADDRINUSE { continue }
          if error.code == ENOPROTOOPT { throw .withoutEnhancedChannels }
          throw GAPError.adapterFailed.error("no channels on PSM \(psm): \(String(cString: strerror(error.code)))")
        }
      }
      listeners[psm] = listener
      return psm
    }
    if let psm {
      throw BledError.alreadyInProgress.error("PSM \(psm) is taken on \(adapter): leave it out for a free one")
    }
    throw BledError.limitReached.error("all numbers for channels are taken on \(adapter)")
  }

  /// Ends listening.
  func unpublish(_ psm: UInt16) { listeners.removeValue(forKey: psm)?.socket?.close() }

  /// The controller is in use again, perhaps with another address.
  func open(at address: DeviceAddress) {
    for (psm, listener) in listeners {
      listener.socket?.close()
      do throws(SystemError) {
        listeners[psm]?.socket = try listen(on: psm, listener.parameters, at: address)
      } catch {
        listeners[psm]?.socket = nil
        onWarning?("no channels can be opened", psm, error.code)
      }
    }
  }

  private func listen(
    on psm: UInt16, _ parameters: ChannelParameters, at address: DeviceAddress
  ) throws(SystemError) -> any ChannelAcceptor {
    try sockets.listen(on: psm, parameters, at: address) { [weak self] in self?.accept(psm) }
  }

  private func accept(_ psm: UInt16) {
    guard let socket = listeners[psm]?.socket else { return }
    do throws(SystemError) {
      guard let channel = try socket.accept() else { return }
      guard let handle = channel.handle else { return channel.descriptor.close() }
      onChannel?(psm, channel.descriptor, handle)
    } catch {
      guard [EMFILE, ENFILE, ENOMEM].contains(error.code) else { return }
      onWarning?("a channel could not be accepted", psm, error.code)
      // The peer keeps waiting; nothing signals free descriptors.
      socket.isAccepting = false
      scheduler.schedule(after: Self.pause) { [weak socket] in socket?.isAccepting = true }
    }
  }
}

extension BluetoothError {
  static var withoutEnhancedChannels: BluetoothError {
    GAPError.notSupported.error(
      """
      enhanced channels are switched off in this kernel, or unknown to it: as root, write 1 to \
      /sys/module/bluetooth/parameters/enable_ecred, for good with bluetooth.enable_ecred=1 on its command line; or \
      leave out "mode"
      """)
  }
}
