using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>What callers are told of messages that lack what a configuration demands, on a whole host.</summary>
[CancelAfter(60_000)]
public sealed class DemandTests
{
    private const string Configuration = """
        {
          "maps": { "page": "page.xsl" },
          "topics": { "orders": {} },
          "endpoints": {
            "xml": { "type": "http-inbound", "path": "/xml", "mode": "request-reply", "process": "xml" },
            "json": { "type": "http-inbound", "path": "/json", "mode": "request-reply", "process": "json" },
            "page": { "type": "http-inbound", "path": "/page", "mode": "request-reply", "process": "page" },
            "query": { "type": "http-inbound", "path": "/query", "methods": ["GET"], "mode": "request-reply", "query": { "x-id": "id" }, "process": "query" }
          },
          "processes": {
            "xml": [{ "set": { "headers": { "x-id": { "xpath": "/order/id", "required": true, "single": true } } } }, { "respond": { "headers": { "x-id": { "header": "x-id" } } } }],
            "json": [{ "set": { "headers": { "x-id": { "jsonpath": "$.id", "required": true } } } }, { "respond": { "headers": { "x-id": { "header": "x-id" } } } }],
            "page": [{ "transform": "page" }, { "filter": { "jsonpath": "$.id" } }],
            "query": [{ "respond": { "headers": { "x-id": { "header": "x-id" } } } }]
          }
        }
        """;

    private const string Page = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="html"/><xsl:template match="/"><html><br/></html></xsl:template></xsl:stylesheet>
        """;

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-demands-");
        File.WriteAllText(Path.Combine(_folder.FullName, "esb.json"), Configuration);
        File.WriteAllText(Path.Combine(_folder.FullName, "page.xsl"), Page);
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("/xml", "<order><id>7</id></order>"), TestCase("/json", """{ "id": 7 }""")]
    public async Task What_is_demanded_and_there_is_taken(string path, string body, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(path, body, "text/plain", cancellationToken);

        Assert.That((response.StatusCode, response.Headers.GetValues("x-id").Single()), Is.EqualTo((HttpStatusCode.OK, "7")));
    }

    [TestCase("/xml", "<order/>", 422, "ESB-XPT-NOMATCH", "The XPath /order/id matches nothing in message ", Category = "XPT-05")]
    [TestCase(
        "/xml",
        "<order><id>7</id><id>8</id><id>9</id></order>",
        422,
        "ESB-XPT-MULTI",
        "The XPath /order/id matches 3 nodes in message ",
        Category = "XPT-06"
    )]
    [TestCase("/json", "{}", 422, "ESB-JPT-NOMATCH", "The JSONPath $.id matches nothing in message ")]
    [TestCase(
        "/json",
        "[{ \"id\": 7 }]",
        422,
        "ESB-JSON-ROOT",
        "The JSONPath $.id needs an object, and the JSON is an array in message ",
        Category = "JSN-10"
    )]
    [TestCase(
        "/page",
        "<order/>",
        500,
        "ESB-PROC-TYPE",
        "The step processes.page[1].filter reads JSON, and the map page makes HTML: ",
        Category = "XSL-16"
    )]
    [Property("Case", "XPT-05"), Property("Case", "XPT-06"), Property("Case", "JSN-10"), Property("Case", "XSL-16")]
    public async Task What_is_demanded_and_not_there_is_told(
        string path,
        string body,
        int status,
        string code,
        string detail,
        CancellationToken cancellationToken
    )
    {
        using var response = await _host.PostAsync(path, body, "text/plain", cancellationToken);

        var problem = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement;
        Assert.That(((int)response.StatusCode, problem.GetProperty("code").GetString()), Is.EqualTo((status, code)));
        Assert.That(problem.GetProperty("detail").GetString(), Does.StartWith(detail));
        if (detail.EndsWith("in message ", StringComparison.Ordinal))
            Assert.That(problem.GetProperty("detail").GetString(), Does.Contain(response.Headers.GetValues("Esb-Message-Id").Single()));
    }

    [TestCase("?id=7", 200), TestCase("?id=7&id=8", 400), Property("Case", "HTP-24")]
    public async Task Parameter_of_the_query_is_taken_where_it_comes_once(string query, int status, CancellationToken cancellationToken)
    {
        using var response = await _host.Client.GetAsync(new Uri(_host.Public, $"/query{query}"), cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(status));
        if (status == 400)
            Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-HTTP-DUPPARAM"));
        else
            Assert.That(response.Headers.GetValues("x-id").Single(), Is.EqualTo("7"));
    }

    [Test, Property("Case", "XSL-16")]
    public void Mismatch_of_a_map_and_a_step_is_told_at_the_start()
    {
        Assert.That(_host.Output, Does.Contain("ESB-PROC-TYPE processes.page[1].filter.jsonpath"));
    }
}
