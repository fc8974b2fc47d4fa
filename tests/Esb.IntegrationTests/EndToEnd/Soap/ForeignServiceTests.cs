using System.Diagnostics;
using System.Net;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Soap;

/// <summary>A service that is not ours, of PHP, is called over <c>soap-outbound</c>.</summary>
[Category("Thorough")]
public sealed class ForeignServiceTests
{
    private const string Service = """
        <?php
        class Calculator {
            public function Add($operands) { return ['result' => $operands->a + $operands->b]; }
        }
        if ($_SERVER['REQUEST_METHOD'] === 'GET') { echo 'ready'; exit; }
        if (strpos(file_get_contents('php://input'), '>666<') !== false) { header('Content-Type: text/html'); echo '<html>Fatal error</html>'; exit; }
        $server = new SoapServer('calculator.wsdl', ['cache_wsdl' => WSDL_CACHE_NONE, 'soap_version' => SOAP_1_2]);
        $server->setClass('Calculator');
        $server->handle();
        """;

    private DirectoryInfo _folder = null!;
    private Process _service = null!;
    private SoapSampleHost _host = null!;

    [OneTimeSetUp]
    public async Task StartServiceAndHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-php-");
        File.Copy(Repository.PathOf("samples", "soap", "calculator.wsdl"), Path.Combine(_folder.FullName, "calculator.wsdl"));
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "service.php"), Service);
        var address = $"127.0.0.1:{FreePorts.Next()}";
        _service = ForeignProgram.Start("php", ["-S", address, "service.php"], _folder.FullName);
        _ = _service.StandardError.ReadToEndAsync();
        _host = await SoapSampleHost.StartAsync(CancellationToken.None, $"http://{address}/");
        await _host.Process.WaitAsync(
            async token => (await _host.Process.Client.GetStringAsync(new Uri($"http://{address}/"), token)) == "ready",
            TimeSpan.FromSeconds(30),
            "the service to be ready",
            CancellationToken.None
        );
    }

    [OneTimeTearDown]
    public async Task StopServiceAndHost()
    {
        await _host.DisposeAsync();
        _service.Kill(entireProcessTree: true);
        await _service.WaitForExitAsync();
        _service.Dispose();
        _folder.Delete(recursive: true);
    }

    [TestCase("/sum?a=1&b=2.5", HttpStatusCode.OK, """{ "sum": 3.5 }""")]
    [TestCase("/sum?a=x&b=2.5", HttpStatusCode.BadRequest, "Receiver: ")]
    [TestCase("/sum?a=666&b=1", HttpStatusCode.BadGateway, "ESB-SOAP-TARGET")]
    [CancelAfter(120_000)]
    public async Task Service_answers_faults_and_fails(
        string address,
        HttpStatusCode status,
        string body,
        CancellationToken cancellationToken
    )
    {
        using var response = await _host.Process.Client.GetAsync(_host.At(address), cancellationToken);

        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain(body));
        Assert.That(response.StatusCode, Is.EqualTo(status));
    }
}
