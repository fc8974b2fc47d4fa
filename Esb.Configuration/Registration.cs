using Esb.Configuration.Compiling;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration;

/// <summary>Registers the sections, endpoint types and steps of an assembly, one line each.</summary>
public static class Registration
{
    /// <summary>Registers a section of the configuration.</summary>
    /// <param name="services">The services of a bus.</param>
    /// <param name="name">The name in the configuration.</param>
    /// <param name="description">A sentence for the schema.</param>
    /// <param name="defaultJson">The default if the section is not written.</param>
    /// <param name="needsRestart">True if the section cannot change at run time.</param>
    public static IServiceCollection AddSection<TSettings>(
        this IServiceCollection services,
        string name,
        string description,
        string defaultJson = "{}",
        bool needsRestart = false
    ) =>
        services
            .AddSingleton(new ConfigSection(name, typeof(TSettings), description, defaultJson) { NeedsRestart = needsRestart })
            .AddSectionModel<TSettings>(name, needsRestart);

    /// <summary>Names the settings of a section that cannot change at run time, where others can.</summary>
    public static IServiceCollection FixSettings(this IServiceCollection services, string section, params IReadOnlyList<string> settings) =>
        services.AddSingleton(new FixedSettings(section, settings));

    /// <summary>Registers an endpoint type under the name that the configuration uses.</summary>
    public static IServiceCollection AddEndpointType<TType, TSettings>(this IServiceCollection services, string kind, string description)
        where TType : class, IEndpointType
        where TSettings : EndpointConfig =>
        services
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), kind, typeof(TSettings), description))
            .AddCompiling<IEndpointType, TType>();

    /// <summary>Registers a step under the name that the configuration uses. Its factory is a service of the compile phase.</summary>
    public static IServiceCollection AddStep<TFactory, TSettings>(this IServiceCollection services, string kind, string description)
        where TFactory : class, IStepFactory =>
        services
            .AddSingleton(new SettingsKind(typeof(StepConfig), kind, typeof(TSettings), description))
            .AddCompiling<IStepFactory, TFactory>();

    /// <summary>Registers a kind of store, transport or other setting with several kinds, under the name that the configuration
    /// uses.</summary>
    public static IServiceCollection AddKind<TBase, TSettings>(this IServiceCollection services, string kind, string description)
        where TSettings : TBase => services.AddSingleton(new SettingsKind(typeof(TBase), kind, typeof(TSettings), description));

    /// <summary>Registers a kind of transport under the name that the configuration uses.</summary>
    public static IServiceCollection AddTransport<TConfig>(
        this IServiceCollection services,
        string kind,
        string description,
        Func<IServiceProvider, TConfig, IBusTransport> create
    )
        where TConfig : TransportConfig =>
        services
            .AddKind<TransportConfig, TConfig>(kind, description)
            .AddSingleton(new TransportFactory(typeof(TConfig), (provider, config) => create(provider, (TConfig)config)));

    /// <summary>Registers kinds that are designed but not implemented in this version; they are refused with
    /// <c>ESB-CFG-UNAVAILABLE</c>.</summary>
    public static IServiceCollection AddUnavailable<TBase>(this IServiceCollection services, params ReadOnlySpan<string> kinds)
    {
        foreach (var kind in kinds)
            services.AddSingleton(new SettingsKind(typeof(TBase), kind, null, ""));
        return services;
    }

    /// <summary>Registers sections that are designed but not implemented in this version.</summary>
    public static IServiceCollection AddUnavailableSections(this IServiceCollection services, params ReadOnlySpan<string> names)
    {
        foreach (var name in names)
            services.AddSingleton(new ConfigSection(name, null, ""));
        return services;
    }
}
