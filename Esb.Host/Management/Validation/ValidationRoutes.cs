using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Host.Composition;
using Esb.Host.Versions;

namespace Esb.Host.Management.Validation;

/// <summary>Checks a configuration that is sent, and describes what a configuration may say. Nothing changes.</summary>
internal static class ValidationRoutes
{
    public static IEndpointRouteBuilder MapValidationRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var (source, versions) = (bus.GetRequiredService<ConfigurationSource>(), bus.GetRequiredService<VersionDesk>());
        api.MapPost(
            "/configuration/validate",
            async (HttpRequest request, CancellationToken cancellationToken) =>
                await ValidateAsync(source, await JsonBody.ReadAsync<ConfigurationContent>(request, cancellationToken), cancellationToken)
        );
        api.MapGet("/configuration/files", (CancellationToken cancellationToken) => FilesAsync(source, versions, cancellationToken));
        api.MapGet(
            "/schema",
            () =>
                Results.Text(
                    SchemaWriter.Write(SettingsCatalog.From(source.Services()), null).ToJsonString(JsonStyle.Indented),
                    "application/schema+json"
                )
        );
        return api;
    }

    private static async Task<ValidationView> ValidateAsync(
        ConfigurationSource source,
        ConfigurationContent sent,
        CancellationToken cancellationToken
    )
    {
        var folder = Directory.CreateTempSubdirectory("esb-validate-");
        try
        {
            var files = await ContentFolder.WriteAsync(sent, folder.FullName, cancellationToken);
            var model = source.Compile(files);
            return new ValidationView(
                IsValid: true,
                model.Configuration.Name,
                model.Revision,
                [],
                [.. model.Warnings.Select(warning => Placed(warning, folder.FullName))]
            );
        }
        catch (ConfigurationRefusedException ex)
        {
            return new ValidationView(
                IsValid: false,
                null,
                ex.Revision,
                [.. ex.Errors.Select(error => Placed(error, folder.FullName))],
                []
            );
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    // The file as its sender named it, not where it stood meanwhile.
    private static ConfigErrorView Placed(ConfigError error, string folder)
    {
        var view = ConfigErrorView.Of(error);
        return view with { File = NameIn(folder, view.File), Path = NameIn(folder, view.Path)! };
    }

    private static string? NameIn(string folder, string? text) =>
        text?.Replace(folder + Path.DirectorySeparatorChar, "", StringComparison.Ordinal);

    private static async Task<ConfigurationFilesView> FilesAsync(
        ConfigurationSource source,
        VersionDesk versions,
        CancellationToken cancellationToken
    )
    {
        if (await versions.FindRunningAsync(cancellationToken) is { } running)
            return new ConfigurationFilesView(running.Version.Number, running.Content.Files);
        try
        {
            return new ConfigurationFilesView(null, (await ContentFolder.ReadFilesAsync(source.Path, cancellationToken)).Files);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new Core.Errors.EsbException(
                "ESB-API-NOTFOUND",
                $"The files of the configuration cannot be read: {ex.Message}",
                Core.Errors.FaultKind.Malformed
            )
            {
                Status = StatusCodes.Status404NotFound,
            };
        }
    }
}

/// <summary>The text of the files of the configuration.</summary>
/// <param name="Version">The version of the store that they are; null if this host has read them.</param>
/// <param name="Files">The text of each file by its name.</param>
internal sealed record ConfigurationFilesView(long? Version, IReadOnlyDictionary<string, string> Files);

/// <summary>The result of a check.</summary>
internal sealed record ValidationView(
    bool IsValid,
    string? Name,
    string? Revision,
    IReadOnlyList<ConfigErrorView> Errors,
    IReadOnlyList<ConfigErrorView> Warnings
);
