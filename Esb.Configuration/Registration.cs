using Esb.Configuration.Compiling;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration;

/// <summary>One line for each section, endpoint type and step that an assembly brings.</summary>
public static class Registration
{
    /// <summary>Registers a section of the configuration.</summary>
    /// <param name="services">What a bus is made of.</param>
    /// <param name="name">Its name in the configuration.</param>
    /// <param name="description">A sentence for the schema.</param>
    /// <param name="defaultJson">What holds where it is not written.</param>
    /// <param name="needsRestart">Whether it cannot change while the bus runs.</param>
    public static IServiceCollection AddSection<TSettings>(this IServiceCollection services, string name, string description, string defaultJson = "{}", bool needsRestart = false) =>
        services.AddSingleton(new ConfigSection(name, typeof(TSettings), description, defaultJson) { NeedsRestart = needsRestart }).AddSectionModel<TSettings>(name, needsRestart);

    /// <summary>Says which settings of a section cannot change while the bus runs, where others can.</summary>
    public static IServiceCollection FixSettings(this IServiceCollection services, string section, params IReadOnlyList<string> settings) =>
        services.AddSingleton(new FixedSettings(section, settings));

    /// <summary>Registers an endpoint type under the name that the configuration uses.</summary>
    public static IServiceCollection AddEndpointType<TType, TSettings>(this IServiceCollection services, string kind, string description)
        where TType : class, IEndpointType
        where TSettings : EndpointConfig =>
        services.AddSingleton(new SettingsKind(typeof(EndpointConfig), kind, typeof(TSettings), description)).AddCompiling<IEndpointType, TType>();

    /// <summary>Registers a step under the name that the configuration uses. Its factory lives in the compile phase.</summary>
    public static IServiceCollection AddStep<TFactory, TSettings>(this IServiceCollection services, string kind, string description)
        where TFactory : class, IStepFactory => services
        .AddSingleton(new SettingsKind(typeof(StepConfig), kind, typeof(TSettings), description))
        .AddCompiling<IStepFactory, TFactory>();

    /// <summary>Registers a kind of store, transport or other thing that comes in several kinds, under the name that the configuration
    /// uses.</summary>
    public static IServiceCollection AddKind<TBase, TSettings>(this IServiceCollection services, string kind, string description)
        where TSettings : TBase => services.AddSingleton(new SettingsKind(typeof(TBase), kind, typeof(TSettings), description));

    /// <summary>Registers a kind of transport under the name that the configuration uses.</summary>
    public static IServiceCollection AddTransport<TConfig>(
        this IServiceCollection services, string kind, string description, Func<IServiceProvider, TConfig, IBusTransport> create)
        where TConfig : TransportConfig => services
        .AddKind<TransportConfig, TConfig>(kind, description)
        .AddSingleton(new TransportFactory(typeof(TConfig), (provider, config) => create(provider, (TConfig)config)));

    /// <summary>Registers kinds that are designed, but that this version cannot do: they are refused with
    /// <c>ESB-CFG-UNAVAILABLE</c>.</summary>
    public static IServiceCollection AddUnavailable<TBase>(this IServiceCollection services, params ReadOnlySpan<string> kinds)
    {
        foreach (var kind in kinds) services.AddSingleton(new SettingsKind(typeof(TBase), kind, null, ""));
        return services;
    }

    /// <summary>Registers sections that are designed, but that this version cannot do.</summary>
    public static IServiceCollection AddUnavailableSections(this IServiceCollection services, params ReadOnlySpan<string> names)
    {
        foreach (var name in names) services.AddSingleton(new ConfigSection(name, null, ""));
        return services;
    }
}
