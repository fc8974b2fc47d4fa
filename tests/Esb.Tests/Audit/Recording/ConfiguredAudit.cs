using Esb.Audit;
using Esb.Audit.Recording;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Content;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Audit.Recording;

/// <summary>The audit as a configuration has it, with a store in memory; disposing removes its folder.</summary>
internal sealed class ConfiguredAudit : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-audit-");
    private readonly ServiceProvider? _services;

    /// <param name="json">The configuration.</param>
    /// <param name="spool">Where facts wait; null for none.</param>
    /// <param name="variables">The environment.</param>
    public ConfiguredAudit(string json, IAuditSpool? spool = null, IReadOnlyDictionary<string, string>? variables = null)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(file, json);
        var services = Services();
        var errors = new ConfigErrors();
        Store = new MemoryAuditStore(spool);
        if (
            new ConfigurationReader(SettingsCatalog.From(services)).Read(file, variables ?? new Dictionary<string, string>(), errors) is
            { } configuration
        )
            _services = Compiled.Build(services.AddSingleton<IAuditStore>(Store), configuration, errors);

        Errors = errors.All;
    }

    public IReadOnlyList<ConfigError> Errors { get; }

    public MemoryAuditStore Store { get; }

    public WarningLog Warnings { get; } = new();

    public IAuditTrail Trail => Get<IAuditTrail>();

    public AuditRecorder Recorder => Get<AuditRecorder>();

    public T Get<T>()
        where T : notnull => _services!.GetRequiredService<T>();

    public void Dispose()
    {
        _services?.DisposeAsync().AsTask().GetAwaiter().GetResult(); // stores close asynchronously only
        _folder.Delete(recursive: true);
    }

    private IServiceCollection Services() =>
        new ServiceCollection()
            .AddLogging(logging => logging.AddProvider(Warnings))
            .AddSingleton(TimeProvider.System)
            .AddEsbConfiguration()
            .AddSingleton(new SettingsKind(typeof(TransportConfig), "memory", typeof(MemoryTransport), "In memory."))
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "in", typeof(Inbound), "In."))
            .AddSingleton(new SettingsKind(typeof(EndpointConfig), "out", typeof(Outbound), "Out."))
            .AddEsbContent()
            .AddEsbStorage()
            .AddEsbAudit();

    private sealed record MemoryTransport : TransportConfig;

    private sealed record Inbound : InboundEndpointConfig;

    private sealed record Outbound : OutboundEndpointConfig;

    /// <summary>Keeps warnings.</summary>
    internal sealed class WarningLog : ILoggerProvider, ILogger
    {
        private readonly List<string> _lines = [];

        public IReadOnlyList<string> Lines
        {
            get
            {
                lock (_lines)
                    return [.. _lines];
            }
        }

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        )
        {
            if (!IsEnabled(logLevel))
                return;
            lock (_lines)
                _lines.Add(formatter(state, exception));
        }

        public void Dispose() { }
    }
}
