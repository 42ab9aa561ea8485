import Bluetooth
import Testing

/// URIs in advertisements: as built, in wire octets, and as read again.
@Suite struct AdvertisedURITests {
  private func read(_ structures: [AdvertisingData.Structure], _ hex: String) throws -> AdvertisingData {
    let octets = try AdvertisingData(structures).encode()
    #expect(Hex.encode(octets) == hex.filter { $0 != " " })
    return AdvertisingData(parsing: octets)
  }

  @Test func uris() throws {
    #expect(try read([.uri("https://a.b")], "07 24 17 2f2f612e62").uri == "https://a.b")
    #expect(try read([.uri("http://a")], "05 24 16 2f2f61").uri == "http://a")
    #expect(try read([.uri("x:y")], "05 24 01 783a79").uri == "x:y")
    #expect(AdvertisingData([.init(.uri, [])]).uri == nil)
    #expect(AdvertisingData([.init(.uri, [0x05, 0x41])]).uri == nil)
    #expect(AdvertisingData([.init(.uri, [0xFF])]).uri == nil)
  }
}
