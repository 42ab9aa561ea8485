import CoreBluetooth
import Foundation

/// A channel with its streams in the main run loop: what is written waits for room, what comes is handed over.
final class ChannelPipe: NSObject {
  /// Called with what came.
  var onReceive: (Data) -> Void = { _ in }
  /// Called when the channel has ended.
  var onEnd: () -> Void = {}
  /// The channel must be retained: when the last reference is released, it is closed.
  private let channel: CBL2CAPChannel
  private var waiting = Data()

  init(_ channel: CBL2CAPChannel) {
    self.channel = channel
    super.init()
    for stream in [channel.inputStream, channel.outputStream] as [Stream] {
      stream.delegate = self
      stream.schedule(in: .main, forMode: .default)
      stream.open()
    }
  }

  func write(_ data: Data) {
    waiting += data
    writeWaiting()
  }

  func close() {
    channel.outputStream.close()
    channel.inputStream.close()
  }

  private func writeWaiting() {
    guard !waiting.isEmpty, channel.outputStream.hasSpaceAvailable else { return }
    let octets = Array(waiting)
    let count = channel.outputStream.write(octets, maxLength: octets.count)
    waiting = Data(octets.dropFirst(max(count, 0)))
  }
}

extension ChannelPipe: StreamDelegate {
  func stream(_ stream: Stream, handle event: Stream.Event) {
    switch event {
    case .hasSpaceAvailable: writeWaiting()
    case .hasBytesAvailable:
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = channel.inputStream.read(&buffer, maxLength: buffer.count)
      if count > 0 { onReceive(Data(buffer[..<count])) }
    case .endEncountered, .errorOccurred:
      close()
      onEnd()
    default: break
    }
  }
}
