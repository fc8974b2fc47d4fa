using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The mediation sample, unchanged but for the port of its back end.</summary>
public sealed class MediationSampleTests
{
    private const string Order = "<orders><order><symbol>IBM</symbol></order><order><symbol>SUN</symbol></order></orders>";

    private DirectoryInfo _folder = null!;
    private EchoBackend _backend = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-mediation-");
        _backend = await EchoBackend.StartAsync();
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "mediation"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB__ENDPOINTS__BACKEND__URL"] = _backend.Url.OriginalString }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("/relay"), TestCase("/direct"), TestCase("/cbr"), CancelAfter(60_000)]
    public async Task Answer_of_the_back_end_comes_back_byte_for_byte(string path, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(path, Order, "application/xml", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo(Order));
    }

    [Test, CancelAfter(60_000)]
    public async Task Body_that_meets_no_condition_is_refused_as_the_process_says(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(
            "/cbr",
            Order.Replace("IBM", "DEC", StringComparison.Ordinal),
            "application/xml",
            cancellationToken
        );

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("the first order is not for IBM"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Map_is_applied_on_the_way_there_and_on_the_way_back(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/xslt", "<order><symbol>IBM</symbol></order>", "application/xml", cancellationToken);

        Assert.That(_backend.LastBody, Does.Match("<redro[^>]*><lobmys>IBM</lobmys></redro>$"));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Match("<order[^>]*><symbol>IBM</symbol></order>$"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Unknown_path_tells_nothing_but_that_it_is_unknown(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/nowhere", Order, "application/xml", cancellationToken);

        var text = await response.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
        Assert.That(text, Does.Contain("ESB-HTTP-NOROUTE").And.Not.Contain("relay"));
    }
}
