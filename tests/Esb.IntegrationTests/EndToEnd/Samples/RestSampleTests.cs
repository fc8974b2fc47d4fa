using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Samples;

/// <summary>The sample of resources, unchanged but for its port and its folder.</summary>
public sealed class RestSampleTests
{
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-rest-");
        var port = FreePorts.Next();
        _host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "rest"),
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string>
            {
                [RunningHost.PublicUrl] = $"http://127.0.0.1:{port}",
                ["ESB__ENDPOINTS__CRM__URL"] = $"http://127.0.0.1:{port}/crm",
                ["ESB__ENDPOINTS__CHANGES__FOLDER"] = Path.Combine(_folder.FullName, "changes"),
            }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("/customers/42", HttpStatusCode.OK, """{ "id": 42, "lang": "" }""")]
    [TestCase("/customers/7?lang=de&lang=fr", HttpStatusCode.OK, """{ "id": 7, "lang": "de,fr" }""")]
    [TestCase("/customers/nobody", HttpStatusCode.NotFound, "There is no such customer.")]
    [TestCase("/customers/%252F", HttpStatusCode.NotFound, "There is no such customer.", Description = "a percent sign stays one")]
    [CancelAfter(60_000)]
    public async Task Resource_is_served_and_called(string address, HttpStatusCode status, string body, CancellationToken cancellationToken)
    {
        using var response = await _host.Client.GetAsync(new Uri(_host.Public.OriginalString.TrimEnd('/') + address), cancellationToken);

        Assert.That((response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken)), Is.EqualTo((status, body)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Change_goes_to_the_file_and_to_the_crm_of_the_path(CancellationToken cancellationToken)
    {
        using var good = await _host.Client.PutAsync(new Uri(_host.Public, "/customers/42"), new StringContent("{}"), cancellationToken);
        using var bad = await _host.Client.PutAsync(new Uri(_host.Public, "/customers/nobody"), new StringContent("{}"), cancellationToken);
        using var none = await _host.Client.DeleteAsync(new Uri(_host.Public, "/customers/42"), cancellationToken);

        Assert.Multiple(async () =>
        {
            Assert.That(good.StatusCode, Is.EqualTo(HttpStatusCode.OK));
            Assert.That(File.Exists(Path.Combine(_folder.FullName, "changes", "customer-42.json")), Is.True);
            Assert.That(
                (bad.StatusCode, await bad.Content.ReadAsStringAsync(cancellationToken)),
                Is.EqualTo((HttpStatusCode.Conflict, "The CRM answered 404: There is no such customer."))
            );
            Assert.That(none.StatusCode, Is.EqualTo(HttpStatusCode.MethodNotAllowed));
        });
    }
}
