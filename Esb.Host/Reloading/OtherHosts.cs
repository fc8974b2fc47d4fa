using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Host.Reloading;

/// <summary>Coordinates an exchange with the other hosts of the farm: prepare, remind, decide. Thread-safe.</summary>
internal sealed partial class OtherHosts(IFarm farm, TimeProvider time, ILogger<OtherHosts> logger)
{
    private static readonly TimeSpan LongestPrepare = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestLook = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Reminder = TimeSpan.FromSeconds(2);

    /// <summary>True if there are other hosts.</summary>
    public bool Any => farm.Hosts.Count > 1;

    /// <summary>The name of this host.</summary>
    public string Self => farm.Self.Name;

    /// <summary>The error of a host that cannot take part.</summary>
    public static ConfigError Differs(string host, string reason) => new("ESB-CONFIG-DIFFERS", host, null, reason, null);

    /// <summary>Prepares all hosts: the exchange proceeds on all or on none.</summary>
    /// <exception cref="ConfigurationRefusedException">With every host that does not answer or cannot take part, and the
    /// reason.</exception>
    public async Task RequireAsync(PrepareReload question, CancellationToken cancellationToken)
    {
        if (!Any)
            return;
        var answers = await farm.AskOthersAsync<PrepareReload, ReloadPrepared>(question, LongestPrepare, cancellationToken);
        List<ConfigError> errors =
        [
            .. answers.Silent.Select(host => Differs(host.Name, $"did not answer within {LongestPrepare.TotalSeconds:0} s")),
            .. answers
                .Answers.Where(answer => answer.Answer.Reason is not null)
                .Select(answer => Differs(answer.Host.Name, answer.Answer.Reason!)),
        ];
        if (errors.Count > 0)
            throw new ConfigurationRefusedException(errors) { Revision = question.Revision };
    }

    /// <summary>Reminds prepared hosts during the work that the decision is still pending; otherwise they would give up.</summary>
    public async Task WhileRemindedAsync(Guid id, Func<Task> work)
    {
        using var done = new CancellationTokenSource();
        var reminding = Any ? RemindAsync(id, done.Token) : Task.CompletedTask;
        try
        {
            await work();
        }
        finally
        {
            await done.CancelAsync();
            await reminding;
        }
    }

    /// <summary>Calls the exchange off. Hosts that miss the message give up by themselves.</summary>
    public async Task CallOffAsync(Guid id)
    {
        try
        {
            await farm.BroadcastAsync(new DecideReload(id, Goes: false), CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogNotCalledOff(ex);
        }
    }

    /// <summary>Commits the exchange on the other hosts.</summary>
    /// <returns>The hosts that committed, those that did not or were not reached, and what could not start there.</returns>
    public async Task<(IReadOnlyList<string> Done, IReadOnlyList<string> Left, IReadOnlyList<string> Failures)> TellAsync(Guid id)
    {
        if (!Any)
            return ([], [], []);
        var all = farm.Hosts.Where(host => host.Id != farm.Self.Id).Select(host => host.Name).ToList();
        List<string> done = [];
        List<string> failures = [];
        try
        {
            var decision = new DecideReload(id, Goes: true);
            var answers = await farm.AskOthersAsync<DecideReload, ReloadDecided>(decision, LongestWait, CancellationToken.None);
            done = [.. answers.Answers.Where(answer => answer.Answer.IsDone).Select(answer => answer.Host.Name)];
            failures = [.. answers.Answers.SelectMany(answer => answer.Answer.Failures, (answer, one) => $"{one} ({answer.Host.Name})")];
        }
        catch (EsbException ex)
        {
            LogNotTold(ex); // this host has already committed
        }

        return (done, [.. all.Except(done)], failures);
    }

    /// <summary>Progress on the other hosts of the endpoints that an exchange changed. Leaves out hosts that do not answer in time, such as
    /// those of an earlier release.</summary>
    public async Task<IReadOnlyList<StartsKnown>> LookAsync(Guid id, CancellationToken cancellationToken)
    {
        if (!Any)
            return [];
        try
        {
            var answers = await farm.AskOthersAsync<AskStarts, StartsKnown>(new AskStarts(id), LongestLook, cancellationToken);
            return
            [
                .. answers.Answers.Select(answer =>
                    answer.Answer with
                    {
                        Failures = [.. answer.Answer.Failures.Select(failure => $"{failure} ({answer.Host.Name})")],
                    }
                ),
            ];
        }
        catch (EsbException)
        {
            return []; // asks again
        }
    }

    private async Task RemindAsync(Guid id, CancellationToken done)
    {
        while (true)
        {
            await Task.Delay(Reminder, time, done).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (done.IsCancellationRequested)
                return;
            try
            {
                await farm.BroadcastAsync(new AwaitReload(id), CancellationToken.None);
            }
            catch (EsbException ex)
            {
                LogNotReminded(ex);
            }
        }
    }

    [LoggerMessage(EventId = 5036, Level = LogLevel.Error, Message = "The other hosts could not be told that the revision is in service")]
    private partial void LogNotTold(Exception exception);

    [LoggerMessage(
        EventId = 5039,
        Level = LogLevel.Warning,
        Message = "The other hosts could not be told that the exchange was cancelled; they give up by themselves"
    )]
    private partial void LogNotCalledOff(Exception exception);

    [LoggerMessage(EventId = 5037, Level = LogLevel.Warning, Message = "The other hosts could not be told to wait for the decision")]
    private partial void LogNotReminded(Exception exception);
}
