using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>A bus with two parties, their secrets in its environment, and what callers show.</summary>
public abstract class AccessFixture
{
    protected const string ShopKey = "shop-key-0123456789";
    protected const string NextShopKey = "shop-next-0123456789";
    protected const string CarrierKey = "carrier-key-0123456789";
    protected const string ShopPassword = "shop password";
    protected const string SharedSecret = "a secret of more than thirty-two bytes";

    /// <summary>The section <c>parties</c>, after a comma.</summary>
    protected const string Parties = """
        , "parties": {
            "shop": {
                "apiKeys": ["${env:SHOP_KEY}", "${env:SHOP_KEY_NEXT}"],
                "users": [{ "user": "shop", "password": "${env:SHOP_PASSWORD}" }, { "user": "shop", "password": "${env:SHOP_KEY_NEXT}" }],
                "tokens": [{ "issuer": "https://login", "audience": "bus", "secret": "${env:TOKEN_SECRET}", "claims": { "sub": "shop" } }],
                "signatureKeys": ["${env:SHOP_KEY}", "${env:SHOP_KEY_NEXT}"],
                "publish": ["orders.#"]
            },
            "carrier": { "apiKeys": ["${env:CARRIER_KEY}"], "publish": ["orders.parcels.#"] }
        }
        """;

    private protected HttpBus Bus { get; private set; } = null!;

    [SetUp]
    public void CreateBus() => Bus = Secured(new HttpBus());

    [TearDown]
    public async Task StopBus() => await Bus.DisposeAsync();

    private protected static HttpBus Secured(HttpBus bus)
    {
        bus.Variables["SHOP_KEY"] = ShopKey;
        bus.Variables["SHOP_KEY_NEXT"] = NextShopKey;
        bus.Variables["CARRIER_KEY"] = CarrierKey;
        bus.Variables["SHOP_PASSWORD"] = ShopPassword;
        bus.Variables["TOKEN_SECRET"] = SharedSecret;
        return bus;
    }

    /// <summary>An endpoint at /orders that publishes.</summary>
    /// <param name="more">Further settings, each after a comma.</param>
    protected static string Orders(string more) =>
        $$""" "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new"{{more}} } """;

    protected static AuthenticationHeaderValue Basic(string user, string password) =>
        new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}")));

    protected static Action<HttpRequestHeaders> WithKey(string key) => headers => headers.Add("X-Api-Key", key);

    protected static Action<HttpRequestHeaders> WithAuthorization(AuthenticationHeaderValue value) =>
        headers => headers.Authorization = value;

    protected async Task<HttpResponseMessage> AskAsync(
        string path,
        Action<HttpRequestHeaders>? sign,
        CancellationToken cancellationToken,
        string body = "<order/>"
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path)
        {
            Content = new StringContent(body, Encoding.UTF8, "application/xml"),
        };
        sign?.Invoke(request.Headers);
        return await Bus.Client.SendAsync(request, cancellationToken);
    }

    protected static async Task<(HttpStatusCode Status, string? Code)> OutcomeAsync(HttpResponseMessage answer)
    {
        using (answer)
        {
            var text = await answer.Content.ReadAsStringAsync();
            return (answer.StatusCode, text.Length == 0 ? null : (string?)JsonNode.Parse(text)?["code"]);
        }
    }
}
