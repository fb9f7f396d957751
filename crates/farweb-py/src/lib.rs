//! Python binding of farweb: thin, no model of its own. Documented in `python/farweb/_core.pyi`.

mod cache;
mod check;
mod columns;
mod errors;
mod export;
mod log;
mod page;
mod page_load;
mod probe;
mod quantities;
mod references;
mod scenario;
mod schema;
mod simulation;
mod tables;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::cache::{Cache, StackDistances, Survey, TraceReader};
    #[pymodule_export]
    use crate::check::{Check, answer_of, extent_of, whose};
    #[pymodule_export]
    use crate::errors::{FarwebError, RunError, ScenarioError, WorkloadError};
    #[pymodule_export]
    use crate::export::{PcapngEncoder, XplotEncoder};
    #[pymodule_export]
    use crate::log::{LogOverview, LogReader, log_format, log_formats};
    #[pymodule_export]
    use crate::page::{Recording, Sent, left_out, read_har, short_url};
    #[pymodule_export]
    use crate::page_load::{Asked, Dependency, Edge, Loaded, asked_of, graph_of, later_visit, settle_each};
    #[pymodule_export]
    use crate::probe::Probe;
    #[pymodule_export]
    use crate::quantities::{
        began, count, difference, interval, moment, number, percents, plain, quantity, rate, relative,
        seconds, share, size, with_margin,
    };
    #[pymodule_export]
    use crate::references::References;
    #[pymodule_export]
    use crate::scenario::{LinkFile, Scenario, absent, connection_use, draft, link_presets, scenario_schema};
    #[pymodule_export]
    use crate::schema::{results_schema, workload_schema};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::tables::{HostTable, Prepared, object_ids};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.py().get_type::<ScenarioError>().setattr("problems", ())?;
        module.add("Problem", crate::errors::problem_type(module.py())?)?;
        module.add("version", farweb::VERSION)?;
        module.add("result_version", farweb::RESULT_VERSION)?;
        module.add("units", farweb::units::UNITS.map(<[_]>::to_vec))?;
        module.add("unit_aliases", farweb::units::ALIASES.map(<[_]>::to_vec))?;
        module.add("null_int", farweb::record::NULL_INT)?;
        module.add("null_id", farweb::record::NULL_ID)?;
        module.add("null_code", farweb::record::NULL_CODE)?;
        module.add("caching_words", farweb::workload::Caching::WORDS.map(|(word, _)| word).to_vec())?;
        module.add("mss_bytes", farweb::tcp::segment::MSS_BYTES.into_inner())?;
        module.add("proxies", crate::scenario::proxies().to_vec())?;
        module.add("relay_tcp", farweb::scenario::draft::RELAY_TCP)?;
        module.add("log_header_bytes", farweb::workload::LOG_HEADER_BYTES)?;
        module.add("rows_kept", farweb::workload::ROWS_KEPT)?;
        module.add("debug_build", cfg!(debug_assertions))
    }
}
