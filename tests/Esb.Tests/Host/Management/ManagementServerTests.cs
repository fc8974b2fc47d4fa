using System.Net;
using Esb.Core.Configuration;
using Esb.Core.Listening;
using Esb.Host.Management;
using NUnit.Framework;

namespace Esb.Tests.Host.Management;

public sealed class ManagementServerTests
{
    [Test, CancelAfter(30_000), Property("Case", "CFG-30")]
    public async Task Port_in_use_refuses_the_configuration(CancellationToken cancellationToken)
    {
        await using var first = await RunningManagement.StartAsync(cancellationToken);
        await using var second = new ManagementServer(first.Services, first.Server.KeyFile);

        var refused = Assert.ThrowsAsync<ConfigurationRefusedException>(() => second.StartAsync(cancellationToken));

        Assert.That(refused!.Errors.Single().Code, Is.EqualTo("ESB-CFG-PORT"));
        Assert.That(refused.Message, Does.Contain("is in use"));
    }

    [TestCase("http://127.0.0.1:0", "ESB-CFG-PORT"), TestCase("http://127.0.0.1:70000", "ESB-CFG-PORT")]
    [
        TestCase("http://example.com:8081", "ESB-CFG-URL"),
        TestCase("http://127.0.0.1:8081/admin", "ESB-CFG-URL"),
        TestCase("8081", "ESB-CFG-URL"),
        TestCase("", "ESB-CFG-URL")
    ]
    public void Address_that_nobody_can_listen_at_is_an_error(string url, string code)
    {
        var errors = new ConfigErrors();

        var address = ListeningAddress.Parse(url, new ManagementConfig(), "url", errors);

        Assert.That(address, Is.Null);
        Assert.That(errors.All.Select(error => error.Code), Is.EqualTo(new[] { code }));
    }

    [
        TestCase("http://127.0.0.1:8081", "127.0.0.1"),
        TestCase("http://localhost:8081/", "127.0.0.1"),
        TestCase("http://0.0.0.0:8081", "0.0.0.0"),
        TestCase("http://[::1]:8081", "::1")
    ]
    public void Address_of_this_machine_is_taken(string url, string address) =>
        Assert.That(
            ListeningAddress.Parse(url, new ManagementConfig(), "url", new ConfigErrors()),
            Is.EqualTo(new ListeningAddress(IPAddress.Parse(address), 8081))
        );

    [Test, Property("Case", "API-23")]
    public void Management_listens_on_this_machine_only_by_default() =>
        Assert.That(new ManagementConfig().Url, Is.EqualTo("http://127.0.0.1:8081"));
}
