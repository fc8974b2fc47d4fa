using System.Collections.Concurrent;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Processes.Endings;
using Esb.Workflows.Processes.Holding;
using Esb.Workflows.Processes.Tracing;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes;

/// <summary>The processes of a revision, each bound on first use.</summary>
/// <param name="processes">The compiled processes.</param>
/// <param name="services">The services of the steps.</param>
internal sealed class ProcessCatalog(ProcessModels processes, IServiceProvider services) : IProcessCatalog
{
    // Binding a process binds the processes that it runs; the compile phase has rejected circles.
    private readonly Dictionary<string, Lazy<MessageProcess>> _processes = processes.All.ToDictionary(
        process => process.Name,
        process => new Lazy<MessageProcess>(() =>
            new MessageProcess(
                process,
                process.Steps.Bind(services),
                services.GetRequiredService<TraceSwitch>(),
                EndingsOf(process.Steps.Steps, processes, services)
            )
        )
    );

    private readonly Dictionary<string, Continuations> _continuations = processes.All.ToDictionary(
        process => process.Name,
        Continuations.Of
    );

    private readonly ConcurrentDictionary<(string, string), IMessageProcess?> _behind = new();

    private static ProcessEndings? EndingsOf(IEnumerable<StepModel> steps, ProcessModels processes, IServiceProvider services)
    {
        var reached = processes.Reached(steps);
        var traits = reached.Select(step => step.Traits).ToList();
        var sequences = services.GetService<SequenceUses>();
        var numbersMessages = sequences is not null && reached.Any(step => sequences.FirstIn(step.Path) is not null);
        string[] names = [.. traits.SelectMany(step => step.Values).SelectMany(StateNames.Of).Distinct()];
        return names.Length > 0 || numbersMessages || traits.Any(step => step.AwaitsEnd || step.ChangesState.Count > 0)
            ? new ProcessEndings(
                names,
                services.GetRequiredService<IEndpointMarks>(),
                services.GetRequiredService<ArrivingState>(),
                numbersMessages
            )
            : null;
    }

    public IMessageProcess Find(string name) => _processes[name].Value;

    public IMessageProcess? FindBehind(string name, string place) =>
        _continuations.GetValueOrDefault(name)?.Find(place) is { } lists
            ? _behind.GetOrAdd((name, place), _ => Bind(processes.Find(name)!, lists))
            : null;

    private MessageProcess Bind(ProcessModel process, IReadOnlyList<StepListModel> lists)
    {
        MessageStep[] bound = [.. lists.Select(list => list.Bind(services))];
        return new MessageProcess(
            process,
            RunAsync,
            services.GetRequiredService<TraceSwitch>(),
            EndingsOf(lists.SelectMany(list => list.Steps), processes, services)
        );

        async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
        {
            foreach (var steps in bound)
            {
                await steps(context, cancellationToken);
                if (context.Outcome != ProcessOutcome.Running)
                    return;
            }
        }
    }
}
