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
        var source = bus.GetRequiredService<ConfigurationSource>();
        api.MapPost(
            "/configuration/validate",
            async (HttpRequest request, CancellationToken cancellationToken) =>
                await ValidateAsync(source, await JsonBody.ReadAsync<ConfigurationContent>(request, cancellationToken), cancellationToken)
        );
        api.MapGet("/configuration/files", async (CancellationToken cancellationToken) => await FilesAsync(source, cancellationToken));
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

    private static async Task<ConfigurationContent> FilesAsync(ConfigurationSource source, CancellationToken cancellationToken)
    {
        try
        {
            return await ContentFolder.ReadFilesAsync(source.Path, cancellationToken);
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

/// <summary>The result of a check.</summary>
internal sealed record ValidationView(
    bool IsValid,
    string? Name,
    string? Revision,
    IReadOnlyList<ConfigErrorView> Errors,
    IReadOnlyList<ConfigErrorView> Warnings
);
