using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The sample of an import of CSV on a real PostgreSQL, unchanged but for its folder.</summary>
[CancelAfter(120_000)]
public sealed class CsvImportSampleTests
{
    private const int Many = 10_000;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly string Orders = File.ReadAllText(Repository.PathOf("samples", "csv-import", "messages", "orders.csv"));

    private DirectoryInfo _folder = null!;
    private Shop _shop = null!;
    private RunningHost _host = null!;

    private string Inbox => Path.Combine(_folder.FullName, "in");

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-csv-import-");
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync(await File.ReadAllTextAsync(Repository.PathOf("samples", "csv-import", "tables.sql")));
        Directory.CreateDirectory(Inbox);
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "csv-import"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_POSTGRES"] = _shop.ConnectionString, ["ESB__ENDPOINTS__INBOX__FOLDER"] = Inbox }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        if (_host is { } started)
            await started.DisposeAsync();
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Each_row_is_inserted_and_a_bad_one_is_a_dead_letter_of_the_inbound_endpoint(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", Orders, "text/csv", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), _host.Output);
        var id = Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
        await WaitForRowsAsync("100%", 2, cancellationToken);
        Assert.That(
            await _shop.ReadAsync<string>(
                "select concat_ws(' ', number, sku, qty, price, day) from imported_orders where number like '100%' order by number",
                cancellationToken
            ),
            Is.EqualTo(new[] { "1001 A-1 3 12.50 2025-12-31", "1003 A;3 1 0.99" })
        );
        var letters = await LettersAsync("upload", cancellationToken);
        Assert.That(letters.Select(letter => letter.Code), Is.EquivalentTo(new[] { "ESB-FLAT-FORMAT", "ESB-JSON-SCHEMA" }));
        Assert.That(
            letters.Select(letter => letter.Reason),
            Has.One.Contains($"Item 1 at line 3 of message {id}").And.One.Contains("column 10, field qty"),
            "not of the format"
        );
        Assert.That(
            letters.Select(letter => letter.Reason),
            Has.One.Contains($"Item 3 at line 5 of message {id}").And.One.Contains("/qty: is less than 1"),
            "not of the schema"
        );
        await _host.WaitForLogAsync(cancellationToken, "4 rows, 2 of them bad");
    }

    [Test]
    public async Task Ten_bad_rows_of_ten_thousand_are_kept_and_the_others_are_inserted_once_although_the_file_comes_twice(
        CancellationToken cancellationToken
    )
    {
        var bad = Enumerable.Range(1, 10).Select(number => (number * 997) - 1).ToList();
        var text = new StringBuilder("number;sku;qty;price;day\r\n");
        for (var row = 0; row < Many; row++)
            text.Append(
                CultureInfo.InvariantCulture,
                $"T-{row};A-{row % 50};{(!bad.Contains(row) ? "1" : row % 2 == 0 ? "none" : "0")};{row % 90},50;01.02.2026\r\n"
            );

        await ImportAsync("many.csv", text.ToString(), cancellationToken);
        await WaitForRowsAsync("T-%", Many - bad.Count, cancellationToken);
        var first = await BadRowsAsync(cancellationToken);
        await ImportAsync("again.csv", text.ToString(), cancellationToken);
        var both = await BadRowsAsync(cancellationToken);
        var ended = new List<(string?, string?)>();
        await _host.WaitAsync(
            async token => (ended = await EndedAsync(token)).Count == 2,
            Limit,
            "to record the ends of both interchanges",
            cancellationToken
        );

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ended, Is.All.EqualTo(("10000", "10")), "items and failed");
            Assert.That(first, Is.EquivalentTo(bad), "each bad row, by the line of its dead letter");
            Assert.That(both, Is.EquivalentTo(bad.Concat(bad)), "the second file is another interchange");
            Assert.That(
                await CountAsync("select count(*) from imported_orders where number like 'T-%'", cancellationToken),
                Is.EqualTo(Many - bad.Count),
                "none is lost, and none doubled"
            );
            Assert.That(
                await CountAsync(
                    $"select count(*) from imported_orders where number in ({string.Join(',', bad.Select(row => $"'T-{row}'"))})",
                    cancellationToken
                ),
                Is.Zero
            );
        }

        async Task<List<int>> BadRowsAsync(CancellationToken token) =>
            [
                .. (await LettersAsync("inbox", token))
                    .Where(letter => letter.Code is "ESB-FLAT-FORMAT" or "ESB-JSON-SCHEMA")
                    .Select(letter => int.Parse(letter.Reason.Split(" at line ")[1].Split(' ')[0], CultureInfo.InvariantCulture) - 2),
            ];
    }

    [Test]
    public async Task File_that_cannot_be_divided_lies_in_error_and_the_rows_before_stand(CancellationToken cancellationToken)
    {
        var error = Path.Combine(Inbox, "error");
        await DropAsync("open.csv", "number;sku;qty;price\r\nB-1;B;1;1\r\n\"B-2;B;1;1\r\n", cancellationToken);

        await _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(error) && Directory.GetFiles(error).Length == 2),
            Limit,
            "to refuse the file",
            cancellationToken
        );

        Assert.That(
            Directory.GetFiles(error).Select(File.ReadAllText),
            Has.Some.Contains("ESB-FLAT-QUOTE").And.Some.Contains("line 3, column 1")
        );
        await WaitForRowsAsync("B-%", 1, cancellationToken);
    }

    [Test]
    public async Task Preview_of_good_rows_is_json(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/preview", "number;sku;qty;price\r\n1;A;1;2,5\r\n", "text/csv", cancellationToken);

        Assert.That(
            await response.Content.ReadAsStringAsync(cancellationToken),
            Is.EqualTo("""[{"number":"1","sku":"A","qty":1,"price":2.5}]""")
        );
    }

    // Under another name first: the endpoint must not see half of it.
    private async Task DropAsync(string name, string text, CancellationToken cancellationToken)
    {
        var unfinished = Path.Combine(_folder.FullName, name);
        await File.WriteAllTextAsync(unfinished, text, cancellationToken);
        File.Move(unfinished, Path.Combine(Inbox, name));
    }

    private async Task ImportAsync(string name, string text, CancellationToken cancellationToken)
    {
        await DropAsync(name, text, cancellationToken);
        await _host.WaitAsync(
            _ => Task.FromResult(File.Exists(Path.Combine(Inbox, "done", name))),
            Limit,
            $"to put {name} away",
            cancellationToken
        );
    }

    private Task WaitForRowsAsync(string numbers, int count, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            async token => await CountAsync($"select count(*) from imported_orders where number like '{numbers}'", token) >= count,
            Limit,
            $"to insert {count} rows",
            cancellationToken
        );

    private async Task<long> CountAsync(string query, CancellationToken cancellationToken) =>
        (await _shop.ReadAsync<long>(query, cancellationToken))[0];

    private async Task<List<(string Code, string Reason)>> LettersAsync(string endpoint, CancellationToken cancellationToken) =>
        [
            .. Items(await _host.AskAsync($"/api/dead-letters?endpoint={endpoint}", cancellationToken))
                .Select(letter => (letter.GetProperty("code").GetString()!, letter.GetProperty("reason").GetString()!)),
        ];

    // Without those of files that could not be divided.
    private async Task<List<(string? Items, string? Failed)>> EndedAsync(CancellationToken cancellationToken) =>
        [
            .. Items(await _host.AskAsync("/api/messages?kind=recorded&endpoint=inbox", cancellationToken))
                .Where(fact => fact.GetProperty("name").GetString() == "interchange-ended" && !fact.TryGetProperty("code", out _))
                .Select(fact => fact.GetProperty("fields"))
                .Select(fields => (fields.GetProperty("items").GetString(), fields.GetProperty("failed").GetString())),
        ];

    private static IEnumerable<JsonElement> Items(JsonElement page) => page.GetProperty("items").EnumerateArray();
}
