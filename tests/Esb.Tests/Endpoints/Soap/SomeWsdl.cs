namespace Esb.Tests.Endpoints.Soap;

/// <summary>Services for tests: an operation with an answer, and one without.</summary>
internal static class SomeWsdl
{
    public const string Schema = """
        <xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:shop" elementFormDefault="qualified">
          <xsd:element name="Order"><xsd:complexType><xsd:sequence><xsd:element name="sku" type="xsd:string"/><xsd:element name="quantity" type="xsd:int"/></xsd:sequence></xsd:complexType></xsd:element>
          <xsd:element name="OrderResponse"><xsd:complexType><xsd:sequence><xsd:element name="number" type="xsd:int"/></xsd:sequence></xsd:complexType></xsd:element>
          <xsd:element name="Notice" type="xsd:anyType"/>
        </xsd:schema>
        """;

    /// <summary>Document style, in both versions of SOAP or in one.</summary>
    public static string Document(bool has11 = true, bool has12 = true, string? types = null) =>
        Definitions(
            types ?? Schema,
            """
            <wsdl:message name="OrderIn"><wsdl:part name="p" element="t:Order"/></wsdl:message>
            <wsdl:message name="OrderOut"><wsdl:part name="p" element="t:OrderResponse"/></wsdl:message>
            <wsdl:message name="NoticeIn"><wsdl:part name="p" element="t:Notice"/></wsdl:message>
            """,
            (has11 ? Binding("soap", "document", """use="literal" """) : "")
                + (has12 ? Binding("soap12", "document", """use="literal" """) : ""),
            has11 ? "soap" : "soap12"
        );

    /// <summary>RPC style.</summary>
    public static string Rpc(string use = "literal") =>
        Definitions(
            "<xsd:schema xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" targetNamespace=\"urn:shop\"><xsd:simpleType "
                + "name=\"Sku\"><xsd:restriction base=\"xsd:string\"><xsd:maxLength "
                + "value=\"5\"/></xsd:restriction></xsd:simpleType></xsd:schema>",
            """
            <wsdl:message name="OrderIn"><wsdl:part name="sku" type="t:Sku"/><wsdl:part name="quantity" type="xsd:int"/></wsdl:message>
            <wsdl:message name="OrderOut"><wsdl:part name="number" type="xsd:int"/></wsdl:message>
            <wsdl:message name="NoticeIn"><wsdl:part name="text" type="xsd:string"/></wsdl:message>
            """,
            Binding("soap", "rpc", $"""use="{use}" namespace="urn:shop:calls" """),
            "soap"
        );

    private static string Definitions(string types, string messages, string bindings, string portPrefix) =>
        $"""
            <?xml version="1.0" encoding="utf-8"?>
            <wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"
                xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:shop" targetNamespace="urn:shop">
            <wsdl:types>{types}</wsdl:types>
            {messages}
            <wsdl:portType name="Shop">
              <wsdl:operation name="Order"><wsdl:input message="t:OrderIn"/><wsdl:output message="t:OrderOut"/></wsdl:operation>
              <wsdl:operation name="Notify"><wsdl:input message="t:NoticeIn"/></wsdl:operation>
            </wsdl:portType>
            {bindings}
            <wsdl:service name="ShopService"><wsdl:port name="Port" binding="t:Shop_{portPrefix}"><{portPrefix}:address location="http://nowhere.example/shop"/></wsdl:port></wsdl:service>
            </wsdl:definitions>
            """;

    private static string Binding(string prefix, string style, string body) =>
        $"""
            <wsdl:binding name="Shop_{prefix}" type="t:Shop">
              <{prefix}:binding style="{style}" transport="http://schemas.xmlsoap.org/soap/http"/>
              <wsdl:operation name="Order"><{prefix}:operation soapAction="urn:shop/Order"/><wsdl:input><{prefix}:body {body}/></wsdl:input><wsdl:output><{prefix}:body {body}/></wsdl:output></wsdl:operation>
              <wsdl:operation name="Notify"><{prefix}:operation soapAction="urn:shop/Notify"/><wsdl:input><{prefix}:body {body}/></wsdl:input></wsdl:operation>
            </wsdl:binding>
            """;
}
