using System.Globalization;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Soap;

/// <summary>A host with the sample of SOAP, unchanged but for its port and the addresses of what it calls.</summary>
internal sealed class SoapSampleHost : IAsyncDisposable
{
    private readonly DirectoryInfo _folder;

    private SoapSampleHost(DirectoryInfo folder, RunningHost process) => (_folder, Process) = (folder, process);

    public RunningHost Process { get; }

    public string Folder => _folder.FullName;

    /// <param name="cancellationToken">Cancels the start.</param>
    /// <param name="calculator">The address of the service that <c>/sum</c> calls; the sample's own if null.</param>
    public static async Task<SoapSampleHost> StartAsync(CancellationToken cancellationToken, string? calculator = null)
    {
        var folder = Directory.CreateTempSubdirectory("esb-soap-");
        var url = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{FreePorts.Next()}");
        return new SoapSampleHost(
            folder,
            await RunningHost.StartAsync(
                Repository.PathOf("samples", "soap"),
                folder.FullName,
                cancellationToken,
                new Dictionary<string, string>
                {
                    [RunningHost.PublicUrl] = url,
                    ["ESB__ENDPOINTS__CRM__URL"] = $"{url}/crm",
                    ["ESB__ENDPOINTS__CALCULATOR_SERVICE__URL"] = calculator ?? $"{url}/calculator",
                }
            )
        );
    }

    public Uri At(string path) => new(Process.Public.OriginalString.TrimEnd('/') + path);

    public async ValueTask DisposeAsync()
    {
        await Process.DisposeAsync();
        _folder.Delete(recursive: true);
    }
}
