import Adapter
import BledRPC
import Bluetooth
import Glibc
import Testing

@testable import BledCore

/// L2CAP channels of sessions.
@Suite struct ChannelBrokerTests: OneClientSuite {
  let world = World()
  let client: TestClient

  init() {
    client = world.client()
    world.daemon.channels.socketPath = "/run/bled/bled-channels.sock"
  }

  private func open(_ psm: UInt16 = 0x80, security: ChannelSecurity? = nil) throws -> (
    ScriptedChannel, ChannelDescription
  ) {
    let peer = world.peer()
    let device = try world.connect(client, peer)
    let opened = try done(
      L2CAPOpen.self, .init(peripheral: device.peripheral, psm: psm, security: security, token: true))
    return (try #require(world.adapter.links.last?.channels.last), opened)
  }

  /// The program connects with its token.
  private func fetch(_ channel: ChannelDescription) throws -> ScriptedEnd {
    let end = ScriptedEnd()
    let number = world.daemon.channels.channel(of: try #require(channel.token), for: 0)
    #expect(number == channel.channel)
    world.daemon.channels.attach(end, to: channel.channel)
    return end
  }

  @Test("A channel is opened, fetched once with its token, and carries octets until the device closes it")
  func opened() throws {
    let (channel, opened) = try open()
    #expect(opened.psm == 0x80 && opened.receiveMTU == 512 && opened.sendMTU == 100)
    #expect(opened.receiveMPS == 247 && opened.sendMPS == 96)
    #expect(opened.socket == "/run/bled/bled-channels.sock" && opened.token?.utf8.count == 32)
    #expect(!channel.isReading)
    let end = try fetch(opened)
    #expect(world.daemon.channels.channel(of: opened.token ?? "", for: 0) == nil)
    channel.onEvent?(.received([1]))
    end.write(.octets([2]))
    #expect(end.taken == [[1]] && channel.sent == [[2]])
    channel.onEvent?(.ended(GAPError.disconnected.error("the device closed the channel")))
    let closed = try client.notifications(L2CAPClosed.self)
    #expect(closed.map(\.channel) == [opened.channel] && closed[0].reason?.data?.name == "disconnected")
    #expect(end.isClosed)
  }

  @Test("A descriptor comes with the answer, and carries octets from then on")
  func descriptor() throws {
    var made: [(keepsPackets: Bool, end: ScriptedEnd)] = []
    world.daemon.channels.makePair = { keepsPackets throws(BluetoothError) in
      let end = ScriptedEnd()
      made.append((keepsPackets, end))
      return ChannelPair(own: end, passed: PassedDescriptor(Glibc.open("/dev/null", O_RDONLY)))
    }
    let device = try world.connect(client, world.peer())
    let params = L2CAPOpen.Params(peripheral: device.peripheral, psm: 0x80, packets: true)
    let opened = try done(L2CAPOpen.self, params)
    let channel = try #require(world.adapter.links.last?.channels.last)
    #expect(opened.token == nil && opened.socket == nil && made.map(\.keepsPackets) == [true])
    channel.onEvent?(.received([1]))
    #expect(made.first?.end.taken == [[1]])
    world.daemon.channels.makePair = { _ throws(BluetoothError) in throw BledError.limitReached.error("none") }
    #expect(try refusal(L2CAPOpen.self, params).data?.name == "limitReached")
    #expect(world.adapter.links.last?.channels.last?.isClosed == true && !channel.isClosed)
    let both = L2CAPOpen.Params(peripheral: device.peripheral, psm: 0x80, packets: true, token: true)
    #expect(try refusal(L2CAPOpen.self, both).data?.name == "invalidParameter")
  }

  @Test("A token is of no use to another user, and expires after 30 seconds, when the channel is closed")
  func tokens() throws {
    let (channel, opened) = try open()
    #expect(world.daemon.channels.channel(of: opened.token ?? "", for: 1000) == nil)
    world.scheduler.advance(by: .seconds(31))
    #expect(world.daemon.channels.channel(of: opened.token ?? "", for: 0) == nil)
    #expect(channel.isClosed)
    #expect(try client.notifications(L2CAPClosed.self).first?.reason?.data?.name == "timeout")
  }

  @Test("The table of tokens: once, to one user, in time")
  func table() {
    var tokens = ChannelTokens()
    let now = Instant(nanoseconds: 5)
    let token = tokens.issue(7, to: 1, now: now, random: (1, 0xFFFF_FFFF_FFFF_FFFF))
    #expect(token == "0000000000000001ffffffffffffffff")
    #expect(tokens.claim(token, by: 2, now: now) == nil)
    #expect(tokens.claim(token, by: 1, now: now) == 7)
    #expect(tokens.claim(token, by: 1, now: now) == nil)
    let late = tokens.issue(8, to: nil, now: now)
    #expect(late != tokens.issue(8, to: nil, now: now))
    #expect(tokens.claim(late, by: nil, now: now.advanced(by: ChannelTokens.timeout)) == nil)
    let revoked = tokens.issue(9, to: 1, now: now)
    tokens.revoke(9)
    #expect(tokens.claim(revoked, by: 1, now: now) == nil)
  }

  @Test("A device opens a channel to a published number; it is accepted once, and needs to be fetched in time")
  func incoming() throws {
    let published = try client.result(L2CAPPublish.self, .init(security: "authenticated", receiveMTU: 1000))
    #expect(world.adapter.published == [published.psm: ChannelParameters(receiveMTU: 1000, level: 3)])
    let link = world.adapter.bringUp(world.peer(), role: .peripheral)
    link.protect(LinkSecurity(level: 3, keySize: 16))
    let early = ScriptedChannel(published.psm)
    link.onEvent?(.channel(early))
    #expect(early.isClosed, "nobody has let the device pair")
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let channel = ScriptedChannel(published.psm)
    link.onEvent?(.channel(channel))
    let told = try #require(try client.notifications(L2CAPIncoming.self).first)
    #expect(told.psm == published.psm && told.token == nil)
    #expect(told.receiveMPS == nil && told.sendMPS == nil, "the adapter does not know the pieces")
    let other = world.client()
    #expect(try other.error(L2CAPAccept.self, .init(channel: told.channel, token: true))?.data?.name == "unknownHandle")
    let accepted = try client.result(L2CAPAccept.self, .init(channel: told.channel, token: true))
    let again = try client.error(L2CAPAccept.self, .init(channel: told.channel, token: true))
    #expect(again?.data?.name == "alreadyInProgress")
    let end = try fetch(accepted)
    channel.onEvent?(.received([1]))
    #expect(end.taken == [[1]])
    _ = try client.result(L2CAPUnpublish.self, .init(psm: published.psm))
    #expect(world.adapter.published.isEmpty && !channel.isClosed)
    _ = try client.result(L2CAPClose.self, .init(channel: told.channel))
    #expect(channel.isClosed && end.isClosed)
    #expect(try client.notifications(L2CAPClosed.self).isEmpty)
  }

  @Test("A channel that is not accepted, or to an unpublished number, is closed")
  func notAccepted() throws {
    let published = try client.result(L2CAPPublish.self, .init(psm: 0x81))
    let link = world.adapter.bringUp(world.peer(), role: .peripheral)
    let (known, unknown) = (ScriptedChannel(published.psm), ScriptedChannel(0x90))
    link.onEvent?(.channel(known))
    link.onEvent?(.channel(unknown))
    #expect(unknown.isClosed && !known.isClosed)
    world.scheduler.advance(by: .seconds(31))
    #expect(known.isClosed)
    #expect(try client.notifications(L2CAPClosed.self).map(\.reason?.data?.name) == ["timeout"])
  }

  @Test("A device cannot use up a program's channels: four of its may wait to be accepted")
  func manyOffered() throws {
    let published = try client.result(L2CAPPublish.self, .init())
    let link = world.adapter.bringUp(world.peer(), role: .peripheral)
    let channels = (0..<5).map { _ in ScriptedChannel(published.psm) }
    for channel in channels { link.onEvent?(.channel(channel)) }
    #expect(channels.map(\.isClosed) == [false, false, false, false, true])
    let told = try client.notifications(L2CAPIncoming.self)
    #expect(told.count == 4)
    _ = try client.result(L2CAPAccept.self, .init(channel: told[0].channel, token: true))
    let next = ScriptedChannel(published.psm)
    link.onEvent?(.channel(next))
    #expect(!next.isClosed)
  }

  @Test("A mode is asked for and told; a number that was published for one mode takes no channels of the other")
  func modes() throws {
    let device = try world.connect(client, world.peer())
    let params = L2CAPOpen.Params(
      peripheral: device.peripheral, psm: 0x80, receiveMTU: 64, mode: "enhanced", token: true)
    #expect(try done(L2CAPOpen.self, params).mode == "enhanced")
    let published = try client.result(L2CAPPublish.self, .init(mode: "enhanced"))
    #expect(world.adapter.published == [published.psm: ChannelParameters(mode: .enhanced)])
    let link = world.adapter.bringUp(world.peer(), role: .peripheral)
    let (old, new) = (ScriptedChannel(published.psm), ScriptedChannel(published.psm, .enhanced))
    link.onEvent?(.channel(old))
    link.onEvent?(.channel(new))
    #expect(old.isClosed && !new.isClosed)
    #expect(try client.notifications(L2CAPIncoming.self).map(\.mode) == ["enhanced"])
    let short = try client.error(L2CAPPublish.self, .init(receiveMTU: 63, mode: "enhanced"))
    #expect(short?.message == "\"receiveMTU\" of an enhanced channel must be 64 to 65535 octets")
  }

  @Test("What a session opens ends when it disconnects from the device, although another still uses the link")
  func released() throws {
    let (channel, opened) = try open()
    let link = try #require(world.adapter.links.last)
    let other = world.client()
    let id = try other.call(PeripheralConnect.self, .init(peripheral: opened.peripheral))
    world.settle()
    _ = try #require(try other.answer(to: id, PeripheralConnect.self)).get()
    let pending = try client.call(L2CAPOpen.self, .init(peripheral: opened.peripheral, psm: 0x81, token: true))
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: opened.peripheral))
    #expect(try client.error(of: pending, L2CAPOpen.self)?.data?.name == "cancelled")
    #expect(channel.isClosed)
    #expect(try client.notifications(L2CAPClosed.self).map(\.reason?.data?.name) == ["disconnected"])
    world.settle()
    #expect(link.channels.map(\.isClosed) == [true, true])
    #expect(world.adapter.links.last === link)
  }

  @Test("A session's channels and numbers are listed")
  func listed() throws {
    let (channel, opened) = try open()
    let published = try client.result(L2CAPPublish.self, .init())
    let listed = try #require(try client.result(SessionList.self, .init()).sessions.first)
    #expect(listed.channels == [.init(opened, hasRoom: true)])
    #expect(listed.channels?.first?.sendMTU == 100 && listed.channels?.first?.receiveMTU == 512)
    #expect(listed.channels?.first?.sendMPS == 96 && listed.channels?.first?.receiveMPS == 247)
    channel.credits = 0
    let full = try #require(try client.result(SessionList.self, .init()).sessions.first)
    #expect(full.channels?.map(\.hasRoom) == [false])
    #expect(listed.listening == [.init(psm: published.psm, adapter: published.adapter)])
    #expect(listed.acquired == nil)
  }

  @Test("With a session its channels and numbers end")
  func sessionEnds() throws {
    let (channel, opened) = try open()
    let end = try fetch(opened)
    _ = try client.result(L2CAPPublish.self, .init())
    client.die()
    #expect(channel.isClosed && end.isClosed && world.adapter.published.isEmpty)
  }

  @Test("Channels are limited, for a session and for a user")
  func limits() throws {
    var limits = Limits()
    limits.perSession[.channels] = 2
    limits.perUser[.channels] = 3
    let world = World(limits: limits)
    world.daemon.channels.socketPath = "/s"
    let (first, second) = (world.client(user: 1000), world.client(user: 1000))
    for psm in [0x80, 0x81] as [UInt16] { _ = try first.result(L2CAPPublish.self, .init(psm: psm)) }
    let own = try #require(try first.error(L2CAPPublish.self, .init(psm: 0x82)))
    #expect(own.data?.name == "limitReached" && own.message.contains("l2cap.unpublish"), "\(own.message)")
    _ = try second.result(L2CAPPublish.self, .init(psm: 0x83))
    #expect(try second.error(L2CAPPublish.self, .init(psm: 0x84))?.data?.name == "limitReached")
  }

  @Test("What cannot be is refused with what would do")
  func refusals() throws {
    for params in [
      L2CAPPublish.Params(psm: 0x7F), .init(psm: 256), .init(receiveMTU: 22),
      .init(receiveMTU: 65_536),
    ] {
      #expect(try client.error(L2CAPPublish.self, params)?.data?.name == "invalidParameter")
    }
    _ = try client.result(L2CAPPublish.self, .init(psm: 0x80))
    #expect(try client.error(L2CAPPublish.self, .init(psm: 0x80))?.data?.name == "alreadyInProgress")
    #expect(try client.error(L2CAPUnpublish.self, .init(psm: 0x81))?.data?.name == "unknownHandle")
    #expect(try client.error(L2CAPClose.self, .init(channel: 1))?.data?.name == "unknownHandle")
    #expect(try client.error(L2CAPOpen.self, .init(peripheral: "x", psm: 0x80))?.data?.name == "unknownDevice")
    let peer = world.peer()
    let device = try world.connect(client, peer)
    let link = try #require(world.adapter.links.last)
    for psm in [0, 0x1F, 0x27] as [UInt16] {
      let refused = try refusal(L2CAPOpen.self, .init(peripheral: device.peripheral, psm: psm))
      #expect(refused.data?.name == "invalidParameter", "\(psm)")
    }
    link.refusal = GAPError.connectionFailed.error("refused")
    let refused = try refusal(L2CAPOpen.self, .init(peripheral: device.peripheral, psm: 0x80))
    #expect(refused.data?.name == "connectionFailed")
  }

  @Test("The link is secured before a channel that asks for it is opened")
  func security() throws {
    let peer = world.peer()
    let device = try world.connect(client, peer)
    let link = try #require(world.adapter.links.last)
    let params = L2CAPOpen.Params(peripheral: device.peripheral, psm: 0x80, security: "encrypted", token: true)
    let refused = try client.call(L2CAPOpen.self, params)
    world.settle()
    #expect(link.channels.isEmpty && link.raises.map(\.level) == [2])
    link.endRaise(nil, GAPError.pairingFailed.error("no"))
    world.settle()
    #expect(try client.error(of: refused, L2CAPOpen.self)?.data?.name == "pairingFailed")
    let call = try client.call(L2CAPOpen.self, params)
    world.settle()
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(link.channels.count == 1)
    _ = try #require(try client.answer(to: call, L2CAPOpen.self)).get()
  }
}
