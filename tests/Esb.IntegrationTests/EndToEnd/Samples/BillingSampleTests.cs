using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The billing sample, unchanged but for its folders.</summary>
public sealed class BillingSampleTests
{
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    private string Bills => Path.Combine(_folder.FullName, "bills");

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-billing-");
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "billing"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string>
            {
                ["ESB__ENDPOINTS__BILLS__FOLDER"] = Bills,
                ["ESB__ENDPOINTS__LEDGER__FOLDER"] = Path.Combine(_folder.FullName, "ledger"),
            }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(60_000)]
    public async Task Order_on_the_topic_becomes_a_bill(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(
            "/orders",
            """<order id="A-1"><customer>ada</customer><total>12.50</total></order>""",
            "application/xml",
            cancellationToken
        );

        var bill = Path.Combine(Bills, "A-1.xml");
        await _host.WaitForFileAsync(bill, cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(
            await File.ReadAllTextAsync(bill, cancellationToken),
            Does.EndWith("""<bill order="A-1"><customer>ada</customer><amount>12.50</amount></bill>""")
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Order_that_costs_nothing_has_no_bill_and_is_recorded_as_filtered(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(
            "/orders",
            """<order id="A-2"><customer>ada</customer><total>0</total></order>""",
            "application/xml",
            cancellationToken
        );

        var id = response.Headers.GetValues("Esb-Message-Id").Single();
        await _host.WaitAsync(
            async token =>
                (await _host.FindAsync($"/api/messages?id={id}&kind=filtered&endpoint=billing", token))
                    ?.GetProperty("items")
                    .GetArrayLength() == 1,
            TimeSpan.FromSeconds(20),
            "to record that the order was filtered",
            cancellationToken
        );
        Assert.That(File.Exists(Path.Combine(Bills, "A-2.xml")), Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task Request_is_answered_by_the_end_of_the_process(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(
            "/quotes",
            """<order id="A-3"><customer>ada</customer><total>7</total></order>""",
            "application/xml",
            cancellationToken
        );

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("<amount>7</amount>"));
    }
}
