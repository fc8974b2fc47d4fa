using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Mail;
using Esb.IntegrationTests.Sql;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The sample of a nightly report on a real PostgreSQL and a mail server that is not ours, unchanged but for its time: each
/// second.</summary>
[CancelAfter(60_000)]
public sealed class NightlySampleTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(40);

    private DirectoryInfo _folder = null!;
    private Shop _shop = null!;
    private AioSmtpd _server = null!;
    private RunningHost? _host;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-nightly-");
        (_shop, _server) = (await Shop.CreateAsync(), await AioSmtpd.StartAsync());
        await _shop.ExecuteAsync(await File.ReadAllTextAsync(Repository.PathOf("samples", "nightly", "tables.sql")));
        await _shop.ExecuteAsync(
            "insert into nightly_sales select article, 2, (now() at time zone 'utc')::date - day from unnest(array['A & B', 'A & B', 'C']) as article, "
                + "generate_series(0, 1) as day" // a midnight may come in between
        );
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "nightly"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string>
            {
                ["ESB_POSTGRES"] = _shop.ConnectionString,
                ["ESB_SMTP"] = $"smtp://127.0.0.1:{_server.Port}",
                ["ESB_SMTP_USER"] = "esb",
                ["ESB_SMTP_PASSWORD"] = "right",
                ["ESB__ENDPOINTS__MAILER__TLS__CA"] = _server.Authority,
                ["ESB__ENDPOINTS__NIGHT__CRON"] = "* * * * * *",
            }
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _server.DisposeAsync();
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Sales_of_the_day_before_are_a_mail_at_each_tick(CancellationToken cancellationToken)
    {
        await _host!.WaitAsync(_ => Task.FromResult(_server.Received().Count >= 2), Limit, "to send two reports", cancellationToken);

        var reports = _server.Received();
        Assert.That(
            reports[0].HtmlBody,
            Does.Contain("<tr><td>A &amp; B</td><td>4</td></tr>").And.Contain("<tr><td>C</td><td>2</td></tr>"),
            _host.Output
        );
        Assert.That(reports[0].Subject, Does.Match(@"^Sales, as of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"));
        Assert.That(reports.Select(report => report.Subject), Is.Unique, "one for each tick");
    }
}
