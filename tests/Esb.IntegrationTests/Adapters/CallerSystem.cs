using System.Globalization;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Threading.Channels;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.Adapters;

/// <summary>A partner that calls the host with each item, again and again until it is accepted.</summary>
internal abstract class CallerSystem : AdapterSystem
{
    private readonly Channel<int> _waiting = Channel.CreateUnbounded<int>(); // a test has few items
    private readonly CancellationTokenSource _stopping = new();
    private readonly HttpClient _client = new() { Timeout = TimeSpan.FromSeconds(2) };
    private Task? _calling;
    private int _failures;

    public override bool IsInbound => true;

    // The endpoint waits for callers: only they meet what is wrong.
    public override bool IsTold(JsonElement endpoint) => Volatile.Read(ref _failures) > 0;

    public override Task PutAsync(int number, CancellationToken cancellationToken)
    {
        _calling ??= Task.WhenAll(Enumerable.Range(0, AtOnce).Select(_ => CallAllAsync()));
        return _waiting.Writer.WriteAsync(number, cancellationToken).AsTask();
    }

    protected override Task<int?> PrepareAsync()
    {
        var port = FreePorts.Next(); // the same after a kill, as the proxy knows it
        SetVariable(RunningHost.PublicUrl, $"http://127.0.0.1:{port}");
        return Task.FromResult<int?>(port);
    }

    /// <summary>Returns the call of an item.</summary>
    protected abstract HttpRequestMessage CreateCall(int number);

    protected override async Task StopAsync()
    {
        await _stopping.CancelAsync();
        try
        {
            await (_calling ?? Task.CompletedTask);
        }
        catch (OperationCanceledException)
        {
            // They call until they are stopped; a caller that ended by another fault fails the test.
        }

        _client.Dispose();
        _stopping.Dispose();
    }

    protected Uri Address => new($"http://127.0.0.1:{Proxy.Port}/items");

    private async Task CallAllAsync()
    {
        await foreach (var number in _waiting.Reader.ReadAllAsync(_stopping.Token))
        {
            while (!await IsAcceptedAsync(number))
            {
                Interlocked.Increment(ref _failures);
                await Task.Delay(TimeSpan.FromMilliseconds(100), _stopping.Token);
            }

            Volatile.Write(ref _failures, 0);
        }
    }

    private async Task<bool> IsAcceptedAsync(int number)
    {
        try
        {
            using var call = CreateCall(number);
            using var answer = await _client.SendAsync(call, _stopping.Token);
            return answer.IsSuccessStatusCode;
        }
        catch (Exception ex)
            when (ex is HttpRequestException or SocketException || (ex is OperationCanceledException && !_stopping.IsCancellationRequested))
        {
            return false; // refused, cut, or silent for too long
        }
    }
}

/// <summary>Requests with an Idempotency-Key and an API key.</summary>
internal sealed class HttpInboundSystem : CallerSystem
{
    private const string ApiKey = "the key of the partner";

    public override string Sections(string credential) =>
        $$"""
            "parties": { "shop": { "apiKeys": ["${env:{{credential}}}"], "publish": ["items.#"] } },
            """;

    public override string Endpoint(string credential) =>
        """
            "type": "http-inbound", "path": "/items", "authentication": ["api-key"]
            """;

    protected override HttpRequestMessage CreateCall(int number) =>
        new(HttpMethod.Post, Address)
        {
            Content = new StringContent(BodyOf(number), new MediaTypeHeaderValue(ContentType)),
            Headers = { { "X-Api-Key", ApiKey }, { "Idempotency-Key", $"{Id}-{number}" } },
        };

    protected override (string Right, string Wrong) Credentials() => (ApiKey, "the key of somebody else");
}

/// <summary>Calls of a one-way operation, with a user name token of WS-Security.</summary>
internal sealed class SoapInboundSystem : CallerSystem
{
    private const string Password = "the password of the partner";
    private const string Security = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-adapter-");

    public override string Sections(string credential) =>
        $$"""
            "parties": { "shop": { "users": [{ "user": "shop", "password": "${env:{{credential}}}" }], "publish": ["items.#"] } },
            """;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "soap-inbound", "path": "/items", "wsdl": "{{_folder.FullName}}/items.wsdl", "authentication": ["username-token"]
            """;

    public override string BodyOf(int number) => $"""<Item xmlns="urn:items"><number>{number}</number></Item>""";

    // An envelope has no id of the message: copies are known by their content alone.
    public override Arrival ArrivalOf(string id, string body) => new(NumberIn(body).ToString(CultureInfo.InvariantCulture), NumberIn(body));

    protected override async Task<int?> PrepareAsync()
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "items.wsdl"),
            """
            <wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
                xmlns:i="urn:items" targetNamespace="urn:items">
              <wsdl:types>
                <xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:items">
                  <xsd:element name="Item" type="xsd:anyType"/>
                </xsd:schema>
              </wsdl:types>
              <wsdl:message name="ItemIn"><wsdl:part name="item" element="i:Item"/></wsdl:message>
              <wsdl:portType name="Items"><wsdl:operation name="Put"><wsdl:input message="i:ItemIn"/></wsdl:operation></wsdl:portType>
              <wsdl:binding name="ItemsBinding" type="i:Items">
                <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
                <wsdl:operation name="Put">
                  <soap:operation soapAction="urn:items/Put"/><wsdl:input><soap:body use="literal"/></wsdl:input>
                </wsdl:operation>
              </wsdl:binding>
              <wsdl:service name="ItemsService">
                <wsdl:port name="Port" binding="i:ItemsBinding"><soap:address location="http://localhost/items"/></wsdl:port>
              </wsdl:service>
            </wsdl:definitions>
            """
        );
        return await base.PrepareAsync();
    }

    protected override HttpRequestMessage CreateCall(int number) =>
        new(HttpMethod.Post, Address)
        {
            Content = new StringContent(
                $"""
                <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">
                  <s:Header>
                    <w:Security xmlns:w="{Security}">
                      <w:UsernameToken><w:Username>shop</w:Username><w:Password>{Password}</w:Password></w:UsernameToken>
                    </w:Security>
                  </s:Header>
                  <s:Body>{BodyOf(number)}</s:Body>
                </s:Envelope>
                """,
                Encoding.UTF8,
                "text/xml"
            ),
            Headers = { { "SOAPAction", "\"urn:items/Put\"" } },
        };

    protected override (string Right, string Wrong) Credentials() => (Password, "the password of somebody else");

    protected override async Task StopAsync()
    {
        await base.StopAsync();
        _folder.Delete(recursive: true);
    }
}
