using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;

namespace SideBySide.Bare;

/// <summary><c>bare ROLE URL ARGUMENTS</c>: servers of a few lines, which show what .NET and the client libraries give without the
/// bus.</summary>
internal static class BareCommand
{
    public static async Task<int> RunAsync(string[] arguments)
    {
        if (arguments is not [var role, var url, .. var rest])
            return 2;
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls(url).ConfigureKestrel(server => (server.AddServerHeader, server.Limits.MaxRequestBodySize) = (false, null));
        await using var application = builder.Build();
        application.MapGet("/ready", () => "");
        if (!await MapAsync(application, role, rest))
            return 2;
        await application.RunAsync();
        return 0;
    }

    private static async Task<bool> MapAsync(WebApplication application, string role, string[] rest)
    {
        switch (role, rest)
        {
            case ("backend", [var folder]):
                BareBackend.Map(application, folder);
                return true;
            case ("soap", []):
                BareSoap.Map(application);
                return true;
            case ("relay", [var target]):
                BareRelay.Map(application, target);
                return true;
            default:
                await Console.Error.WriteLineAsync($"bare {role}: unknown, or arguments are missing");
                return false;
        }
    }
}
