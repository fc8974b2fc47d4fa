using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The step <c>convert</c> in a running host, on the embedded default.</summary>
[CancelAfter(120_000)]
public sealed class ConvertTests
{
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-convert-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "order.schema.json"),
            """
            {
              "properties": { "order": { "type": "object", "properties": {
                "@id": { "type": "integer" },
                "line": { "type": "array", "items": { "type": "object", "properties": { "price": { "type": "number", "minimum": 0 } } } }
              } } }
            }
            """
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            {
              "formats": { "orders": { "type": "csv", "delimiter": ";", "columns": { "sku": "string", "price": { "type": "decimal", "decimalSeparator": "," } } } },
              "schemas": { "order": "order.schema.json" },
              "topics": { "orders": {} },
              "processes": {
                "import": [{ "convert": { "from": "orders", "to": "json" } }, { "publish": "orders.new" }],
                "export": [{ "convert": { "from": "json", "to": "orders" } }],
                "xml": [{ "convert": "json" }],
                "typed": [{ "convert": { "from": "xml", "to": "json", "types": "order" } }, { "validate": "order" }]
              },
              "endpoints": {
                "in": { "type": "file-inbound", "folder": "in", "pattern": "*.csv", "interval": "100ms", "process": "import" },
                "out": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "out", "fileName": "{message.id}.json" },
                "export": { "type": "http-inbound", "path": "/export", "mode": "request-reply", "process": "export" },
                "xml": { "type": "http-inbound", "path": "/xml", "mode": "request-reply", "process": "xml" },
                "typed": { "type": "http-inbound", "path": "/typed", "mode": "request-reply", "process": "typed" }
              }
            }
            """
        );
        Directory.CreateDirectory(Path.Combine(_folder.FullName, "in"));
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None, new Dictionary<string, string>());
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task File_of_csv_is_published_as_json(CancellationToken cancellationToken)
    {
        Drop("good.csv", "sku;price\r\nA-1;12,50\r\n");

        await _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(PathOf("out")) && Directory.GetFiles(PathOf("out"), "*.json").Length == 1),
            TimeSpan.FromSeconds(40),
            "to write the JSON",
            cancellationToken
        );

        Assert.That(
            await File.ReadAllTextAsync(Directory.GetFiles(PathOf("out"), "*.json").Single(), cancellationToken),
            Is.EqualTo("""[{"sku":"A-1","price":12.50}]""")
        );
    }

    [Test]
    public async Task File_that_the_format_refuses_lies_in_error_with_line_column_and_field(CancellationToken cancellationToken)
    {
        Drop("bad.csv", "sku;price\r\nA-1;12.50\r\n");
        var reason = PathOf("in", "error", "bad.csv.error.txt");

        await _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(PathOf("in", "error")) && Refused().Count == 2),
            TimeSpan.FromSeconds(40),
            $"to write {reason}",
            cancellationToken
        );

        var texts = Refused().Select(File.ReadAllText);
        Assert.That(texts, Has.Some.Contains("ESB-FLAT-FORMAT").And.Some.Contains("line 2, column 5, field price"));
    }

    [Test]
    public async Task Caller_is_answered_in_csv_and_in_json(CancellationToken cancellationToken)
    {
        using var csv = await _host.PostAsync("/export", """[{"sku":"A;1","price":0.5}]""", "application/json", cancellationToken);
        using var json = await _host.PostAsync("/xml", "<a><b>1</b></a>", "application/xml", cancellationToken);
        using var refused = await _host.PostAsync("/export", """[{"sku":"A","price":"x"}]""", "application/json", cancellationToken);

        Assert.That(await csv.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("sku;price\r\n\"A;1\";0,5\r\n"));
        Assert.That(csv.Content.Headers.ContentType!.ToString(), Is.EqualTo("text/csv; charset=utf-8"));
        Assert.That(await json.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("""{"a":{"b":"1"}}"""));
        Assert.That(refused.StatusCode, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        Assert.That(await refused.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-FLAT-FORMAT").And.Contain("field price"));
    }

    [Test]
    public async Task Xml_is_answered_as_json_with_the_types_of_a_schema_and_checked_by_it(CancellationToken cancellationToken)
    {
        using var good = await PostAsync("<order id='7'><line><price>9.90</price></line></order>");
        using var bad = await PostAsync("<order id='7'><line><price>cheap</price></line></order>");

        Assert.That(await good.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("""{"order":{"@id":7,"line":[{"price":9.90}]}}"""));
        Assert.That(bad.StatusCode, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        Assert.That(
            await bad.Content.ReadAsStringAsync(cancellationToken),
            Does.Contain("ESB-JSON-SCHEMA").And.Contain("/order/line/0/price").And.Contain("is not a number")
        );

        Task<HttpResponseMessage> PostAsync(string xml) => _host.PostAsync("/typed", xml, "application/xml", cancellationToken);
    }

    // Under another name first: the endpoint must not see half of it.
    private void Drop(string name, string text)
    {
        File.WriteAllText(PathOf(name), text);
        File.Move(PathOf(name), PathOf("in", name));
    }

    // Without what is still being written.
    private List<string> Refused() =>
        [.. Directory.GetFiles(PathOf("in", "error")).Where(file => !file.EndsWith(".part", StringComparison.Ordinal))];

    private string PathOf(params string[] parts) => Path.Combine([_folder.FullName, .. parts]);
}
