import Adapter
import Bluetooth

/// A channel that is being opened: its outcome is told once. If its socket is not closed with the link, the kernel
/// connects to the device anew; by itself it gives up after 40 s.
final class ChannelOpening {
  private static let patience = Duration.seconds(45)

  let descriptor: Descriptor
  private var alarm: (any ScheduledWork)?
  private var done: ((Result<any Channel, BluetoothError>) -> Void)?

  init(
    _ descriptor: Descriptor, on scheduler: any Scheduler,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    self.descriptor = descriptor
    self.done = done
    alarm = scheduler.schedule(after: Self.patience) { [unowned self] in
      fail(GAPError.timeout.error("The device did not answer the request for a channel."))
    }
  }

  /// Whether the outcome was told.
  var isFinished: Bool { done == nil }

  /// The channel is open, and has the descriptor.
  func succeed(_ channel: any Channel) { finish(.success(channel)) }

  /// There is no channel; the descriptor is closed.
  func fail(_ error: BluetoothError) {
    guard !isFinished else { return }
    descriptor.close()
    finish(.failure(error))
  }

  private func finish(_ result: Result<any Channel, BluetoothError>) {
    alarm?.cancel()
    alarm = nil
    let tell = done
    done = nil
    tell?(result)
  }
}
