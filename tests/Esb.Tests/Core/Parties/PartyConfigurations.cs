using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Parties;

/// <summary>Configurations of the whole product, read and checked as a start would.</summary>
internal static class PartyConfigurations
{
    public static EsbConfiguration Read(string json)
    {
        var errors = new ConfigErrors();
        var configuration = InFileAsync(
            json,
            file =>
                Task.FromResult(
                    new ConfigurationReader(SettingsCatalog.From(new ServiceCollection().AddEsb())).Read(
                        file,
                        new Dictionary<string, string>(),
                        errors
                    )
                )
        );
        return configuration.GetAwaiter().GetResult() ?? throw new ConfigurationRefusedException(errors.All);
    }

    /// <summary>What a start would refuse; empty where it would go on.</summary>
    public static async Task<IReadOnlyList<ConfigError>> CheckAsync(string json, params (string Name, string Value)[] variables)
    {
        try
        {
            var environment = variables.ToDictionary(variable => variable.Name, variable => variable.Value);
            await using var services = await InFileAsync(
                json,
                async file => BusServices.Build(file, environment, new ServiceCollection().AddEsb())
            );
            return [];
        }
        catch (ConfigurationRefusedException ex)
        {
            return ex.Errors;
        }
    }

    private static async Task<T> InFileAsync<T>(string json, Func<string, Task<T>> use)
    {
        var folder = Directory.CreateTempSubdirectory("esb-parties-");
        try
        {
            var file = Path.Combine(folder.FullName, "esb.json");
            File.WriteAllText(file, json);
            return await use(file);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}
