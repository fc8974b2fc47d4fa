using System.Net;
using Esb.Core.Messages;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The sample of an import of CSV, unchanged but for its folders.</summary>
[CancelAfter(60_000)]
public sealed class CsvImportSampleTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(40);
    private static readonly string Orders = File.ReadAllText(Repository.PathOf("samples", "csv-import", "messages", "orders.csv"));

    private DirectoryInfo _folder = null!;
    private HostProcess _host = null!;

    private string Rows => Path.Combine(_folder.FullName, "rows");

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-csv-import-");
        Directory.CreateDirectory(Path.Combine(_folder.FullName, "in"));
        _host = await HostProcess.StartAsync(
            Repository.PathOf("samples", "csv-import"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string>
            {
                ["ESB__ENDPOINTS__ROWS__FOLDER"] = Rows,
                ["ESB__ENDPOINTS__INBOX__FOLDER"] = Path.Combine(_folder.FullName, "in"),
            }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Each_row_is_published_and_a_bad_one_is_a_dead_letter_of_the_inbound_endpoint(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", Orders, "text/csv", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), _host.Output);
        var id = Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
        var (first, last) = (RowOf(id, 0), RowOf(id, 2));
        await _host.WaitForFileAsync(first, cancellationToken);
        await _host.WaitForFileAsync(last, cancellationToken);
        Assert.That(
            await File.ReadAllTextAsync(first, cancellationToken),
            Is.EqualTo("""{"sku":"A-1","qty":3,"price":12.50,"day":"2025-12-31"}""")
        );
        Assert.That(await File.ReadAllTextAsync(last, cancellationToken), Is.EqualTo("""{"sku":"A;3","qty":1,"price":0.99}"""));
        var letter = (await _host.AskAsync("/api/dead-letters?endpoint=upload", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Single();
        Assert.That(letter.GetProperty("code").GetString(), Is.EqualTo("ESB-FLAT-FORMAT"));
        Assert.That(
            letter.GetProperty("reason").GetString(),
            Does.Contain($"Item 1 at line 3 of message {id}").And.Contain("column 5, field qty")
        );
        Assert.That(_host.Output, Does.Contain("3 rows, 1 of them bad"));
    }

    [Test]
    public async Task File_that_cannot_be_divided_lies_in_error_and_the_rows_before_stand(CancellationToken cancellationToken)
    {
        var before = Directory.Exists(Rows) ? Directory.GetFiles(Rows).Length : 0;
        var (unfinished, error) = (Path.Combine(_folder.FullName, "open.csv"), Path.Combine(_folder.FullName, "in", "error"));
        await File.WriteAllTextAsync(unfinished, "sku;qty;price\r\nB-1;1;1\r\n\"B-2;1;1\r\n", cancellationToken);
        File.Move(unfinished, Path.Combine(_folder.FullName, "in", "open.csv"));

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
        await _host.WaitAsync(
            _ => Task.FromResult(Directory.GetFiles(Rows).Any(file => File.ReadAllText(file).Contains("B-1", StringComparison.Ordinal))),
            Limit,
            "to deliver the row before",
            cancellationToken
        );
        Assert.That(Directory.GetFiles(Rows).Length, Is.GreaterThan(before));
    }

    [Test]
    public async Task Preview_of_good_rows_is_json(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/preview", "sku;qty;price\r\nA;1;2,5\r\n", "text/csv", cancellationToken);

        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("""[{"sku":"A","qty":1,"price":2.5}]"""));
    }

    private string RowOf(Guid message, int index) => Path.Combine(Rows, $"{MessageIds.Derive(message, $"split rows {index}")}.json");
}
