using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The sample of flat files, unchanged but for its folders.</summary>
[CancelAfter(60_000)]
public sealed class FlatFileSampleTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(40);
    private static readonly byte[] Invoices = File.ReadAllBytes(Repository.PathOf("samples", "flat-file", "messages", "invoices.txt"));

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    private string Orders => Path.Combine(_folder.FullName, "orders");

    private string Inbox => Path.Combine(_folder.FullName, "in");

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-flat-file-");
        Directory.CreateDirectory(Inbox);
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "flat-file"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB__ENDPOINTS__ORDERS__FOLDER"] = Orders, ["ESB__ENDPOINTS__INBOX__FOLDER"] = Inbox }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Orders_of_a_file_are_written_as_json_with_the_country_of_their_sender(CancellationToken cancellationToken)
    {
        Drop("invoices.txt", Invoices);

        await WaitForAsync(Orders, "DE-*.json", 2, cancellationToken);

        Assert.That(
            Directory.GetFiles(Orders, "DE-*.json").Select(File.ReadAllText),
            Is.EquivalentTo(
                new[]
                {
                    """{"id":"4711","amount":12.50,"line":[{"sku":"A-1","quantity":3},{"sku":"B-2","quantity":1}]}""",
                    """{"id":"4712","amount":7.50,"line":[{"sku":"A-1","quantity":1}]}""",
                }
            )
        );
    }

    [Test, Property("Case", "FLT-10")]
    public async Task File_with_a_wrong_trailer_lies_in_error_with_its_line_and_the_orders_before_stand(CancellationToken cancellationToken)
    {
        var lying = Encoding.Latin1.GetString(Invoices).Replace("T000002", "T000003", StringComparison.Ordinal);
        Drop("lying.txt", Encoding.Latin1.GetBytes(lying.Replace("Müller", "ACME  ", StringComparison.Ordinal)));
        var error = Path.Combine(Inbox, "error");

        await WaitForAsync(error, "*", 2, cancellationToken);
        await WaitForAsync(Orders, "AT-*.json", 2, cancellationToken);

        Assert.That(Directory.GetFiles(error).Select(File.ReadAllText), Has.Some.Contains("ESB-FLAT-COUNT").And.Some.Contains("line 7"));
    }

    [Test]
    public async Task File_becomes_json_and_the_same_file_again(CancellationToken cancellationToken)
    {
        var (status, json) = await PostAsync("/json", Invoices, "text/plain", cancellationToken);
        var (_, flat) = await PostAsync("/flat", json, "application/json", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), Encoding.UTF8.GetString(json));
        Assert.That(Encoding.UTF8.GetString(json), Does.Contain("\"sender\":\"Müller\""));
        Assert.That(LinesOf(flat), Is.EqualTo(LinesOf(Invoices)));
    }

    [Test]
    public async Task Cut_file_is_refused_with_what_is_missing(CancellationToken cancellationToken)
    {
        var (status, problem) = await PostAsync("/json", Invoices[..40], "text/plain", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(Encoding.UTF8.GetString(problem), Does.Contain("ESB-FLAT-"));
    }

    private static string[] LinesOf(byte[] text) =>
        Encoding.Latin1.GetString(text).Split(["\r\n", "\n"], StringSplitOptions.RemoveEmptyEntries);

    // Under another name first: the endpoint must not see half of it.
    private void Drop(string name, byte[] bytes)
    {
        var unfinished = Path.Combine(_folder.FullName, name);
        File.WriteAllBytes(unfinished, bytes);
        File.Move(unfinished, Path.Combine(Inbox, name));
    }

    private Task WaitForAsync(string folder, string pattern, int count, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(folder) && Directory.GetFiles(folder, pattern).Length >= count),
            Limit,
            $"to write {count} files {pattern} into {folder}",
            cancellationToken
        );

    private async Task<(HttpStatusCode Status, byte[] Body)> PostAsync(
        string path,
        byte[] body,
        string contentType,
        CancellationToken cancellationToken
    )
    {
        using var content = new ByteArrayContent(body) { Headers = { ContentType = MediaTypeHeaderValue.Parse(contentType) } };
        using var response = await _host.Client.PostAsync(new Uri(_host.Public, path), content, cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsByteArrayAsync(cancellationToken));
    }
}
