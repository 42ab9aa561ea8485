import Adapter
import Bluetooth

/// An opening channel: its outcome is reported once. Unless its socket is closed with the link, the kernel reconnects
/// to the device; by itself it gives up after 40 s.
final class ChannelOpening: LinkChannel {
  private static let timeout = Duration.seconds(45)

  let descriptor: Descriptor
  private weak var link: KernelLink?
  private var alarm: (any ScheduledWork)?
  private var done: ((Result<any Channel, BluetoothError>) -> Void)?

  init(
    _ descriptor: Descriptor, on link: KernelLink, in context: LoopContext,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    self.descriptor = descriptor
    self.link = link
    self.done = done
    alarm = context.scheduler.schedule(after: Self.timeout) { [unowned self] in
      fail(GAPError.timeout.error("the device did not answer the request for a channel"))
    }
    link.add(self)
  }

  /// The channel is open and owns the descriptor.
  func succeed(_ channel: any Channel) { finish(.success(channel)) }

  /// No channel was opened; the descriptor is closed.
  func fail(_ error: BluetoothError) {
    guard done != nil else { return }
    descriptor.close()
    finish(.failure(error))
  }

  func linkEnded(_ error: BluetoothError) { fail(error) }

  private func finish(_ result: Result<any Channel, BluetoothError>) {
    alarm?.cancel()
    alarm = nil
    link?.remove(self)
    let tell = done
    done = nil
    tell?(result)
  }
}
