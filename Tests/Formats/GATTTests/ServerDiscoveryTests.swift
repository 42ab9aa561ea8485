import Bluetooth
import GATT
import Testing

/// Core 5.4, Vol 3, Part F, 3.4.3, 3.4.4.1 and 3.4.4.9, octet for octet.
struct ServerDiscoveryTests {
  @Test func handlesAreGivenInOrder() throws {
    let services = try sampleDatabase().services
    #expect(services.map(\.range) == [1...5, 6...13, 14...20])
    #expect(services[1].characteristics.map(\.valueHandle) == [8, 11, 13])
    #expect(services[1].characteristics[0].descriptors.first { $0.uuid == 0x2902 }?.handle == 9)
    #expect(services[2].characteristics.map(\.valueHandle) == [16, 18, 20])
    #expect(services.map(\.owner) == [.local, .local, AttributeOwner(9)])
  }

  @Test func primaryServices() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("100100ffff0028", "11060100050000180600" + "0d000d18")
    try server.exchange("100e00ffff0028", "11140e001400ffeeddccbbaa99887766554433221100")
    try server.exchange("101500ffff0028", "011015000a")
    try server.exchange("100100ffff0128", "011001000a")
  }

  @Test func primaryServicesWithLargeMTU() throws {
    var server = LinkScript(try sampleDatabase(), maximumMTU: 100)
    try server.exchange("026400", "036400")
    // The third service has a long UUID and gets an answer of its own.
    try server.exchange("100100ffff0028", "110601000500001806000d000d18")
  }

  @Test func groupTypesThatAreNone() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("100100ffff0328", "0110010010")
    try server.exchange("100000ffff0028", "0110000001")
    try server.exchange("100500040000" + "28", "0110050001")
  }

  @Test func findByTypeValue() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("060100ffff00280d18", "0706000d00")
    try server.exchange("060700ffff00280d18", "010607000a")
    try server.exchange("060100ffff0028ffeeddccbbaa99887766554433221100", "070e001400")
    // A UUID of the Bluetooth base is one in both of its lengths.
    try server.exchange("060100ffff0028fb349b5f80000080001000000d180000", "0706000d00")
    try server.exchange("060100ffff382a01", "070b000b00")
    try server.exchange("060500010000280d18", "0106050001")
  }

  @Test func findInformation() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0406000a00", "0501060000280700032808003" + "72a090002290a000328")
    try server.exchange("041500ffff", "010415000a")
    try server.exchange("04000001" + "00", "0104000001")
  }

  @Test func characteristicDeclarations() throws {
    var server = LinkScript(try sampleDatabase())
    try server.exchange("0806000c000328", "09070700300800372a0a00020b00382a0c000e0d00392a")
    try server.exchange("0808000b000328", "09070a00020b00382a")
    try server.exchange("080d000d000328", "01080d000a")
  }

  @Test func includedServices() throws {
    var database = try sampleDatabase()
    let outer = try database.add(ServiceDefinition(uuid: 0x1810, includes: [6, 14]))
    #expect(outer.range == 21...23)
    var server = LinkScript(database)
    try server.exchange("081500ffff0228", "0908160006000d000d18")
    // A long UUID has no room in the declaration.
    try server.exchange("081700ffff0228", "0906" + "17000e001400")
    #expect(throws: DatabaseError.unknownInclude(7)) {
      try database.add(ServiceDefinition(uuid: 0x1811, includes: [7]))
    }
  }
}
