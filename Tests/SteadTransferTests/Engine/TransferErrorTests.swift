import SteadTransfer
import Testing

@Suite struct TransferErrorTests {
  @Test(arguments: [
    (TransferError.Code.unreadable, "unreadable"), (.notConverted, "notConverted"),
    (.conflict, "conflict"), (.notVerified, "notVerified"), (.changed, "changed"),
    (.unsupported, "unsupported"), (.failed, "failed"),
  ])
  func aCodePrintsAsItsName(_ code: TransferError.Code, _ name: String) {
    #expect("\(code)" == name)
  }
}
