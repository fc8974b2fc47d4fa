using System.Text.Json;
using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Inbound;
using Esb.Tests.Endpoints.Contracts.Inbound;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Sql;

/// <summary>Rows of a PostgreSQL, taken with a process: the sender of a row sees it marked, and a refusal in the audit.</summary>
[TestFixture]
internal sealed class SqlInboundContract : InboundEndpointContract
{
    private const string Query = "select note, id from jobs where not taken order by id limit 20";
    private const string After = "update jobs set taken = true where id = @id";

    private Shop _shop = null!;
    private ToldOverload _overload = null!;
    private LogLines _log = null!;
    private int _rows;

    protected override bool Waits => true;

    protected override int WorkedOnAtOnce => 1; // the rows of a poll are one transaction

    protected override int AddedBytes => """{"note":"","id":0}""".Length;

    protected override IntakeHold IntakeHold { get; } = new("jobs", TimeProvider.System);

    protected override int Asked => _overload.Asked;

    [SetUp]
    public async Task CreateShop()
    {
        (_shop, _overload, _log, _rows) = (await Shop.CreateAsync(), new ToldOverload(new LimitsConfig()), new LogLines(), -1);
        await _shop.ExecuteAsync("create table jobs (id int primary key, note text not null, taken boolean not null default false)");
    }

    [TearDown]
    public async Task DropShop()
    {
        _log.Dispose();
        await _shop.DisposeAsync();
    }

    protected override string SentIn(string body) => JsonDocument.Parse(body).RootElement.GetProperty("note").GetString()!;

    protected override Task<IInboundEndpoint> CreateAsync()
    {
        var time = TimeProvider.System;
        var config = new SqlInboundConfig
        {
            Name = "jobs",
            Path = "endpoints.jobs",
            Connection = "shop",
            Query = Query,
            After = After,
            Process = "p",
            Key = ["id"],
            Interval = TimeSpan.FromMilliseconds(100),
        };
        var admission = new Admission(_overload.Gate, AuditGate, Intake.NeedsTopics, new CallGate(AtOnce, time), IntakeHold);
        var taker = new RowTaker(
            config,
            SqlText.Parse(Query),
            SqlText.Parse(After),
            _shop.Open(),
            null!,
            Intake,
            MaxBodyBytes,
            time,
            new LoggerFactory([_log]).CreateLogger<RowTaker>()
        );
        return Task.FromResult<IInboundEndpoint>(
            new SqlInboundEndpoint(config, new RowDesk(config, taker, admission, time, NullLogger<RowDesk>.Instance), admission, time)
        );
    }

    protected override async Task<SenderVerdict> SendAsync(string body, CancellationToken cancellationToken)
    {
        var id = Interlocked.Increment(ref _rows);
        await _shop.ExecuteAsync($"insert into jobs (id, note) values ({id}, '{body}')");
        while ((await _shop.ReadAsync<bool>($"select taken from jobs where id = {id}", cancellationToken)) is not [true])
            await Task.Delay(5, cancellationToken);
        var message = Core.Messages.MessageIds.FromForeign($"row\n{id}", "jobs");
        return _log.All.Any(line => line.Text.Contains($"message {message} of jobs was refused", StringComparison.Ordinal))
            ? SenderVerdict.Refused
            : SenderVerdict.Accepted;
    }

    protected override void Overload(bool isOverloaded) => _overload.Memory = isOverloaded ? 90 : 10;
}
