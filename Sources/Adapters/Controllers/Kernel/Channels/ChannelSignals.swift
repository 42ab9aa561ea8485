import Bluetooth
import HCI

/// The signalling on a link while a channel is being opened, received over a raw socket (`ChannelAnswer`).
final class ChannelSignals {
  /// Maximum packets read in one go.
  private static let burst = 64

  /// Called when the device has answered, and for each later answer.
  var onAnswer: ((ChannelAnswer.Answer) -> Void)?
  private(set) var answer: ChannelAnswer
  private let descriptor: Descriptor?
  private var packet = [UInt8](repeating: 0, count: 64)

  /// Takes ownership of the descriptor.
  /// - Parameter descriptor: nil if the signalling cannot be received.
  init(_ descriptor: Descriptor?, handle: ConnectionHandle, psm: UInt16) {
    self.descriptor = descriptor
    answer = ChannelAnswer(handle: handle, psm: psm)
  }

  /// Starts receiving signalling.
  /// - Parameter channel: our number (CID) of the channel; nil if unknown.
  func start(channel: UInt16?, in context: LoopContext) {
    answer.channel = channel
    // Without memory for it, the answer is read once the kernel has reported the outcome.
    try? descriptor?.whenReady(on: context.loop, priority: .highest) { [weak self] readiness in
      if readiness.contains(.failed) { self?.descriptor?.unwatch() }
      self?.catchUp()
    }
  }

  /// Reads the signalling received so far.
  func catchUp() {
    for _ in 0..<Self.burst {
      guard let descriptor, descriptor.isOpen, let length = try? descriptor.read(into: &packet) else { return }
      let earlier = answer.answer
      answer.handle(Array(packet[..<length]))
      if let new = answer.answer, new != earlier { onAnswer?(new) }
    }
  }

  func close() {
    onAnswer = nil
    descriptor?.close()
  }
}
