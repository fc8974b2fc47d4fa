using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Encrypts stored bodies with the first of the configured keys.</summary>
internal static class EncryptionRoutes
{
    public static IEndpointRouteBuilder MapEncryptionRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        api.MapPost(
            "/store/encryption",
            (string? after, CancellationToken cancellationToken) =>
                bus.GetRequiredService<IBodyEncryption>().EncryptAsync(after, cancellationToken)
        );
        return api;
    }
}
