import Bluetooth
import HCI

/// The signalling on one link while a channel is being opened, heard over a raw socket (`ChannelAnswer`).
final class ChannelSignals {
  /// How many packets are looked at in one go.
  private static let burst = 64

  /// Called when the device has answered, and each time it answers anew.
  var onAnswer: ((ChannelAnswer.Answer) -> Void)?
  private(set) var answer: ChannelAnswer
  private let descriptor: Descriptor?
  private var packet = [UInt8](repeating: 0, count: 64)

  /// Takes ownership of the descriptor.
  /// - Parameter descriptor: nil if the signalling cannot be heard.
  init(_ descriptor: Descriptor?, handle: ConnectionHandle, psm: UInt16) {
    self.descriptor = descriptor
    answer = ChannelAnswer(handle: handle, psm: psm)
  }

  /// Hears signalling from now on.
  /// - Parameter channel: our number (CID) of the channel; nil if it is not known.
  func start(channel: UInt16?, in context: AdapterContext) {
    answer.channel = channel
    // Without memory for it the answer is heard when the kernel has told the outcome.
    try? descriptor?.whenReady(on: context.loop, priority: .highest) { [weak self] readiness in
      if readiness.contains(.failed) { self?.descriptor?.unwatch() }
      self?.catchUp()
    }
  }

  /// Hears the signalling received so far.
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
