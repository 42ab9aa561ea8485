import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc

/// The kernel's sockets for channels.
struct KernelChannelSockets: ChannelSockets {
  let loop: EventLoop

  func listen(
    on psm: UInt16, _ parameters: ChannelParameters, at address: DeviceAddress, _ offered: @escaping () -> Void
  ) throws(SystemError) -> any ChannelAcceptor {
    let new = Descriptor(
      try SystemError.check(
        cbz_channel_socket(
          address.littleEndian, address.kind.rawValue, psm, UInt16(clamping: parameters.receiveMTU))))
    // A listener accepts both modes; the kernel reports it for channels in the other mode, too.
    if parameters.mode == .enhanced { _ = try SystemError.check(cbz_channel_is_enhanced(new.number)) }
    if parameters.level > 1 {
      _ = try SystemError.check(cbz_att_set_security(new.number, UInt8(clamping: parameters.level)))
    }
    KernelFault.setReceiveBuffer(of: new)
    _ = try SystemError.check(cbz_att_listen(new.number, 8))
    try new.whenReady(on: loop, priority: .normal) { _ in offered() }
    return KernelChannelSocket(new)
  }
}

private final class KernelChannelSocket: ChannelAcceptor {
  private let descriptor: Descriptor

  init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  var isAccepting: Bool {
    get { !descriptor.interest.isEmpty }
    set { descriptor.interest = newValue ? .readable : [] }
  }

  func accept() throws(SystemError) -> AcceptedChannel? {
    var octets = [UInt8](repeating: 0, count: 6)
    var type: UInt8 = 0
    let number = cbz_att_accept(descriptor.number, &octets, &type)
    if number == -EAGAIN || number == -EINTR { return nil }
    let accepted = Descriptor(try SystemError.check(number))
    return AcceptedChannel(descriptor: accepted, handle: UInt16(exactly: cbz_att_connection_handle(accepted.number)))
  }

  func close() { descriptor.close() }
}
