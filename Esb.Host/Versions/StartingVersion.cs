using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Host.Composition;
using Esb.Host.Management;

namespace Esb.Host.Versions;

/// <summary>Finds what a host starts with: its files, or where its files say so the newest version in the store.</summary>
internal static class StartingVersion
{
    private static readonly TimeSpan LongestLook = TimeSpan.FromSeconds(15);

    /// <summary>Reads as much of the configuration as says where the versions are, and the newest version.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    /// <exception cref="EsbException">The store cannot be read, and this host has not run a version before.</exception>
    /// <exception cref="IOException">The folder of the host cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder of the host may not be written.</exception>
    public static async Task<ConfigurationSource> FindAsync(
        string path,
        IReadOnlyDictionary<string, string> variables,
        IServiceCollection services,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var source = ConfigurationSource.Of(path, variables, services);
        var draft = new ConfigurationReader(SettingsCatalog.From(services)).ReadDraft(path, variables, new ConfigErrors());
        var isStore = draft?.FindSection<ManagementConfig>("management")?.Configuration == ConfigurationPlace.Store;
        if (!isStore || draft!.FindSection<StoreConfig>("store") is not { IsWhole: true } store)
            return source; // what is wrong is reported when it is compiled
        var bootstrap = source with { IsBootstrap = true };
        var folders = new VersionFolders(store.Folder, time);
        try
        {
            using var limit = new CancellationTokenSource(LongestLook, time);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
            var access = new StoreAccess(draft.Name, store, draft.FindSection<AuditEvidenceConfig>("audit") ?? new(), services);
            await using var reader = access.Read();
            if (await reader.ConfigurationVersions.FindNewestAsync(either.Token) is not { } newest)
                return await FirstAsync(bootstrap, folders, cancellationToken);
            var stored = (await reader.ConfigurationVersions.FindAsync(newest.Number, either.Token))!;
            var files = await folders.WriteAsync(stored.Content, either.Token);
            return bootstrap with { Start = new KeptVersion(newest.Number, files) };
        }
        catch (EsbException ex) when (ex.Code == "ESB-STORE-VERSION")
        {
            // The host makes the tables, or those of its release, when it starts; then it follows the store.
            return folders.FindLast() is { } last
                ? bootstrap with
                {
                    Start = new KeptVersion(last.Number, last.Files),
                }
                : await FirstAsync(bootstrap, folders, cancellationToken);
        }
        catch (Exception ex) when (IsAway(ex, cancellationToken))
        {
            if (folders.FindLast() is not { } last)
                throw new EsbException(
                    "ESB-CONFIG-VERSION",
                    "The versions of the configuration cannot be read, and this host has run none before.",
                    FaultKind.Unavailable,
                    ex
                );
            var warning =
                $"ESB-CONFIG-VERSION: the store could not be reached at the start, so version {last.Number} runs, the last of this host";
            return bootstrap with { Start = new KeptVersion(last.Number, last.Files, warning) };
        }
    }

    // Not the files themselves: they may change while the host runs.
    private static async Task<ConfigurationSource> FirstAsync(
        ConfigurationSource bootstrap,
        VersionFolders folders,
        CancellationToken cancellationToken
    )
    {
        var model = bootstrap.Compile();
        var outside = new List<string>();
        var content = await ContentFolder.ReadAsync(bootstrap.Path, model, outside, cancellationToken);
        if (outside.Count > 0)
            throw VersionReader.Outside(outside, bootstrap.Folder, model.Revision);
        return bootstrap with { Start = new KeptVersion(Number: null, await folders.WriteAsync(content, cancellationToken)) };
    }

    private static bool IsAway(Exception exception, CancellationToken cancellationToken) =>
        !cancellationToken.IsCancellationRequested && exception is OperationCanceledException or EsbException { IsTransient: true };
}
