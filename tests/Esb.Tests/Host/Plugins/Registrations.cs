using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Plugins;

/// <summary>What the plug-ins of these tests register. Their assemblies call it.</summary>
public static class Registrations
{
    public static void Nothing(IServiceCollection services) => ArgumentNullException.ThrowIfNull(services);

    public static void Stamp(IServiceCollection services) => services.AddStep<StampStep, StampConfig>("stamp", "Sets a property.");

    public static void Hostile(IServiceCollection services) => HostileThings.Register(services);

    public static void KnownStep(IServiceCollection services) => services.AddStep<StampStep, StampConfig>("validate", "Another.");

    public static void UnavailableStep(IServiceCollection services) => services.AddStep<StampStep, StampConfig>("applyPolicy", "Another.");

    public static void KnownSection(IServiceCollection services) => services.AddSection<StampConfig>("limits", "Another.");

    public static void SettingsThatAreNone(IServiceCollection services) =>
        services.AddStep<StampStep, OddConfig>("odd", "Has a setting of no known type.");

    public static void Throws(IServiceCollection services) =>
        throw new InvalidOperationException($"nothing of {services.Count} is to be had.\nat nowhere");

    /// <summary>A step.</summary>
    public sealed record StampConfig : SettingsRecord
    {
        [Setting("The property.", Main = true)]
        public required string Property { get; init; }
    }

    /// <summary>A step with settings that nobody can read.</summary>
    public sealed record OddConfig : SettingsRecord
    {
        [Setting("Odd.")]
        public Thread? Odd { get; init; }
    }

    /// <summary>The step.</summary>
    public sealed class StampStep : StepFactory<StampConfig>
    {
        /// <inheritdoc/>
        public override string Kind => "stamp";

        /// <inheritdoc/>
        protected override StepModel Compile(StampConfig settings, StepConfig step, IStepCompiler compiler) =>
            new(step, $"stamp({settings.Property})") { Bind = _ => (_, _) => ValueTask.CompletedTask };
    }
}
