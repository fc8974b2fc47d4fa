using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The orders sample on the embedded default, unchanged: what the README promises.</summary>
public sealed class OrdersSampleTests
{
    private static readonly string Messages = Repository.PathOf("samples", "orders", "messages");

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-orders-");
        CopyFolder(Repository.PathOf("samples", "orders"), Path.Combine(_folder.FullName, "samples", "orders"));
        _host = await RunningHost.StartAsync("samples/orders", _folder.FullName, CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(60_000)]
    public async Task Four_orders_are_accepted_but_the_broken_one_and_arrive_where_they_belong(CancellationToken cancellationToken)
    {
        var statuses = new List<HttpStatusCode>();
        foreach (var name in new[] { "order", "large-order", "legacy-order", "broken-order" })
        {
            using var response = await PostAsync(name, cancellationToken);
            statuses.Add(response.StatusCode);
        }

        Assert.That(
            statuses,
            Is.EqualTo(
                new[] { HttpStatusCode.Accepted, HttpStatusCode.Accepted, HttpStatusCode.Accepted, HttpStatusCode.UnprocessableEntity }
            )
        );
        await _host.WaitAsync(
            _ => Task.FromResult(LedgerFiles().Length == 3),
            TimeSpan.FromSeconds(20),
            "to write three files to the ledger",
            cancellationToken
        );
        await _host.WaitForFileAsync(Data("review", "A-1002.xml"), cancellationToken);
        await _host.WaitForFileAsync(Data("warehouse", "Blue Cafe-A-1001.xml"), cancellationToken);
        await _host.WaitForFileAsync(Data("warehouse", "Hill School-L-77.xml"), cancellationToken);
        var large = await File.ReadAllTextAsync(Path.Combine(Messages, "large-order.xml"), cancellationToken);
        var legacy = await File.ReadAllTextAsync(Data("warehouse", "Hill School-L-77.xml"), cancellationToken);
        Assert.Multiple(() =>
        {
            Assert.That(File.ReadAllText(Data("review", "A-1002.xml")), Is.EqualTo(large), "the body is not touched");
            Assert.That(
                legacy,
                Does.Contain("<order id=\"L-77\">").And.Contain("<customer>Hill School</customer>"),
                "the old shop's order has today's form"
            );
        });
    }

    [Test, CancelAfter(60_000)]
    public async Task Accepted_order_is_answered_with_its_id_and_that_it_is_not_durable(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", Order("B-1"), "application/xml", cancellationToken);

        var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement;
        Assert.Multiple(() =>
        {
            Assert.That(answer.GetProperty("messageId").GetGuid(), Is.Not.EqualTo(Guid.Empty));
            Assert.That(response.Headers.GetValues("Esb-Message-Id").Single(), Is.EqualTo(answer.GetProperty("messageId").GetString()));
            Assert.That(answer.GetProperty("durable").GetBoolean(), Is.False);
        });
    }

    [Test, CancelAfter(60_000)]
    public async Task Refused_order_is_told_line_and_column_and_nothing_of_the_inside(CancellationToken cancellationToken)
    {
        using var response = await PostAsync("broken-order", cancellationToken);

        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        var problem = JsonDocument.Parse(text).RootElement;
        Assert.Multiple(() =>
        {
            Assert.That(response.Content.Headers.ContentType!.MediaType, Is.EqualTo("application/problem+json"));
            Assert.That(problem.GetProperty("code").GetString(), Is.EqualTo("ESB-XML-SCHEMA"));
            Assert.That(problem.GetProperty("traceId").GetString(), Has.Length.EqualTo(32));
            Assert.That(text, Does.Match("line 1").And.Match("column \\d+"));
            Assert.That(text, Does.Not.Contain("   at ").And.Not.Contain("samples/orders"));
        });
    }

    [Test, CancelAfter(60_000)]
    public async Task Copy_in_the_drop_box_arrives_and_ends_in_done(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Data("in", "shop-42.xml"), Order("DROP-42"), cancellationToken);

        await _host.WaitForFileAsync(Data("warehouse", "A shop-DROP-42.xml"), cancellationToken);
        await _host.WaitAsync(
            _ =>
                Task.FromResult(
                    Directory
                        .GetFiles(Data("in"), "*shop-42*", SearchOption.AllDirectories)
                        .Any(path => path.Contains("/done/", StringComparison.Ordinal))
                ),
            TimeSpan.FromSeconds(10),
            "to move the file to done",
            cancellationToken
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Bad_file_in_the_drop_box_ends_in_error_with_the_reason_and_the_next_goes_on(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Data("in", "bad.xml"), "<order id='X'>", cancellationToken);
        await File.WriteAllTextAsync(Data("in", "good.xml"), Order("DROP-43"), cancellationToken);

        await _host.WaitForFileAsync(Data("warehouse", "A shop-DROP-43.xml"), cancellationToken);
        await _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(Data("in", "error")) && Directory.GetFiles(Data("in", "error"), "*bad*").Length == 2),
            TimeSpan.FromSeconds(10),
            "to move the bad file to error",
            cancellationToken
        );
        var reason = Directory.GetFiles(Data("in", "error"), "*bad*.txt").Single();
        Assert.That(await File.ReadAllTextAsync(reason, cancellationToken), Does.Contain("ESB-XML-SYNTAX"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Audit_finds_an_order_by_its_number_over_the_running_host_and_over_the_store(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", Order("FIND-1"), "application/xml", cancellationToken);
        var id = response.Headers.GetValues("Esb-Message-Id").Single();

        var online = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "audit",
            "find",
            "--where",
            "order=FIND-1",
            "--url",
            _host.Management.OriginalString
        );
        var offline = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "audit",
            "find",
            "--where",
            "order=FIND-1",
            "--config",
            "samples/orders"
        );
        var journey = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "audit",
            "show",
            id,
            "--url",
            _host.Management.OriginalString
        );

        Assert.Multiple(() =>
        {
            Assert.That(online.ExitCode, Is.Zero, online.Error);
            Assert.That(online.Output, Does.Contain(id));
            Assert.That(offline.ExitCode, Is.Zero, offline.Error);
            Assert.That(offline.Output, Does.Contain(id));
            Assert.That(
                journey.Output,
                Does.Contain("received").IgnoreCase.And.Contain("published").IgnoreCase.And.Contain("delivered").IgnoreCase
            );
        });
    }

    [Test, CancelAfter(60_000)]
    public async Task Nothing_is_logged_for_a_message_at_the_usual_level(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", Order("QUIET-1"), "application/xml", cancellationToken);
        await _host.WaitForFileAsync(Data("warehouse", "A shop-QUIET-1.xml"), cancellationToken);

        Assert.That(
            _host.Output,
            Does.Contain("receive-order: choose(1)").And.Not.Contain(response.Headers.GetValues("Esb-Message-Id").Single())
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Hours_are_told_without_a_topic(CancellationToken cancellationToken)
    {
        var hours = await _host.Client.GetStringAsync(new Uri(_host.Public, "/hours"), cancellationToken);

        Assert.That(JsonDocument.Parse(hours).RootElement.GetProperty("open").GetString(), Is.EqualTo("08:00"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Every_endpoint_is_shown_running(CancellationToken cancellationToken)
    {
        var endpoints = await _host.AskAsync("/api/endpoints", cancellationToken);

        var text = endpoints.ToString();
        Assert.That(
            text,
            Does.Contain("shop")
                .And.Contain("drop-box")
                .And.Contain("opening-hours")
                .And.Contain("warehouse")
                .And.Contain("ledger")
                .And.Contain("review")
        );
        Assert.That(text, Does.Not.Contain("\"state\":\"stopped\"").And.Not.Contain("\"state\":\"paused\""));
    }

    private static string Order(string id) =>
        $"""<order id="{id}"><customer>A shop</customer><line sku="TEA-1" quantity="2"/><total>24.90</total></order>""";

    private async Task<HttpResponseMessage> PostAsync(string name, CancellationToken cancellationToken) =>
        await _host.PostAsync(
            "/orders",
            await File.ReadAllTextAsync(Path.Combine(Messages, $"{name}.xml"), cancellationToken),
            "application/xml",
            cancellationToken
        );

    private string Data(params string[] parts) => Path.Combine([_folder.FullName, "samples", "orders", "data", .. parts]);

    // Only the orders of the messages folder: other tests of this fixture write to the ledger too.
    private string[] LedgerFiles() =>
        Directory.Exists(Data("ledger"))
            ?
            [
                .. Directory
                    .GetFiles(Data("ledger"), "*.xml")
                    .Where(path =>
                        File.ReadAllText(path) is var text
                        && (text.Contains("A-100", StringComparison.Ordinal) || text.Contains("L-77", StringComparison.Ordinal))
                    ),
            ]
            : [];

    private static void CopyFolder(string from, string to)
    {
        foreach (
            var file in Directory
                .EnumerateFiles(from, "*", SearchOption.AllDirectories)
                .Where(path => !path.Contains("/data/", StringComparison.Ordinal))
        )
        {
            var target = Path.Combine(to, Path.GetRelativePath(from, file));
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(file, target);
        }
    }
}
