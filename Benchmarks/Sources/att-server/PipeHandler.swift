import NIOCore

/// The peer on a NIO pipe channel. NIO would gather packets that wait into one, so only as many are given to it as the
/// socket takes at once; the channel's high-water mark of one octet tells when that is over.
final class PipeHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: GATTPeer
  private var waiting = CircularBuffer<[UInt8]>()

  init(_ peer: GATTPeer) { self.peer = peer }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    peer.isWritable = { channel.isWritable }
    peer.send = { [unowned self] packet in
      guard waiting.isEmpty, channel.isWritable else { return waiting.append(packet) }
      channel.writeAndFlush(channel.allocator.buffer(bytes: packet), promise: nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    peer.received(Array(unwrapInboundIn(data).readableBytesView))
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    while context.channel.isWritable, let packet = waiting.popFirst() {
      context.channel.writeAndFlush(context.channel.allocator.buffer(bytes: packet), promise: nil)
    }
    if context.channel.isWritable { peer.stream() }
  }
}
