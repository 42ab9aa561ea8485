import Adapter
import Bluetooth
import CBlueZ
import EventLoop
import Glibc
import HCI

/// The sockets of the Linux kernel.
struct LinuxSockets: KernelSockets {
  /// Octets that may be queued in a control socket; the kernel doubles it, and counts at least 768 for a packet.
  private static let room: Int32 = 1 << 20

  let loop: EventLoop

  var channels: any ChannelSockets { KernelChannelSockets(loop: loop) }
  var rival: Int? { Rival.process() }
  var usersOfChannels: [UInt32] { Strangers.users() }

  func management() throws(SystemError) -> Descriptor {
    let descriptor = Descriptor(try SystemError.check(cbz_hci_control()))
    _ = cbz_set_receive_buffer(descriptor.number, Self.room)
    return descriptor
  }

  func ignoreDeviceFound(_ isIgnored: Bool, on management: Descriptor) {
    _ = cbz_hci_ignore_device_found(management.number, isIgnored ? 1 : 0)
  }

  func controller(_ index: ControllerIndex, _ packets: ControllerPackets) throws(SystemError) -> Descriptor {
    let descriptor = Descriptor(try SystemError.check(cbz_hci_raw(index.rawValue)))
    let event: UInt32 = 1 << 0x04
    let types = packets.hasCommands ? event | 1 << 0x01 : event
    let mask = packets.events.reduce(UInt64(0)) { $0 | 1 << UInt64($1 & 63) }
    _ = try SystemError.check(cbz_hci_set_filter(descriptor.number, types, mask))
    _ = cbz_set_receive_buffer(descriptor.number, Self.room)
    if let reports = packets.reports {
      _ = try SystemError.check(cbz_hci_divide_reports(descriptor.number, reports ? 1 : 0))
    }
    return descriptor
  }

  func links(of index: ControllerIndex, over control: Descriptor) -> [KnownLink]? {
    guard control.isOpen else { return nil }
    var links = [cbz_link](repeating: cbz_link(), count: 64)
    let count = cbz_hci_links(control.number, index.rawValue, &links, Int32(links.count))
    guard count >= 0 else { return nil }
    return links.prefix(Int(count)).map { link in
      let (a, b, c, d, e, f) = link.address
      let address = [f, e, d, c, b, a].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return KnownLink(handle: link.handle, address: address, role: link.is_central == 0 ? .peripheral : .central)
    }
  }

  func listen(at address: DeviceAddress, mtu: Int) throws(SystemError) -> Descriptor {
    let new = Descriptor(try SystemError.check(cbz_att_socket(address.littleEndian, address.kind.rawValue)))
    _ = cbz_att_set_mtu(new.number, UInt16(mtu), UInt16(mtu))
    _ = try SystemError.check(cbz_att_listen(new.number, 8))
    return new
  }

  func accept(from listener: Descriptor) throws(SystemError) -> OfferedLink? {
    while true {
      var octets = [UInt8](repeating: 0, count: 6)
      var type: UInt8 = 0
      let number = cbz_att_accept(listener.number, &octets, &type)
      if number == -EAGAIN { return nil }
      if number == -EINTR || number == -ECONNABORTED { continue }
      let descriptor = Descriptor(try SystemError.check(number))
      // A link that has ended since has no handle.
      guard let handle = UInt16(exactly: cbz_att_connection_handle(number)),
        let kind = DeviceAddress.Kind(rawValue: type), let peer = DeviceAddress(littleEndian: octets, kind: kind)
      else {
        descriptor.close()
        continue
      }
      return OfferedLink(descriptor: descriptor, peer: peer, handle: handle)
    }
  }

  func channel(
    to peer: DeviceAddress, _ psm: UInt16, _ mode: ChannelMode, receiveMTU: Int, from address: DeviceAddress
  ) throws(SystemError) -> Descriptor {
    let number = cbz_channel_socket(address.littleEndian, address.kind.rawValue, 0, UInt16(clamping: receiveMTU))
    let new = Descriptor(try SystemError.check(number))
    if mode == .enhanced { _ = try SystemError.check(cbz_channel_set_enhanced(new.number)) }
    KernelFault.setReceiveBuffer(of: new)
    let result = cbz_channel_connect(new.number, peer.littleEndian, peer.kind.rawValue, psm)
    if result != -EINPROGRESS { _ = try SystemError.check(result) }
    return new
  }

  func signalling(of index: ControllerIndex) -> Descriptor? {
    let number = cbz_hci_signalling(index.rawValue)
    return number < 0 ? nil : Descriptor(number)
  }
}
