//! The debug information of a file of code, where it has any.
//!
//! In: an ELF file. Out: its DWARF sections, unpacked.

use flate2::read::ZlibDecoder;
use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};
use std::io::Read;

pub(crate) type Section<'a> = EndianSlice<'a, LittleEndian>;

/// Bytes of what the information describes, before they are unpacked; 0 where there is none.
pub(crate) fn size<'data>(file: &impl Object<'data>) -> u64 {
    file.section_by_name(SectionId::DebugInfo.name()).map_or(0, |section| section.size())
}

/// The sections; `None` where there are none.
pub(crate) fn sections<'data>(file: &impl Object<'data>) -> Option<DwarfSections<Vec<u8>>> {
    if !file.is_little_endian() || file.section_by_name(SectionId::DebugInfo.name()).is_none() {
        return None;
    }
    let load = |id: SectionId| -> Result<Vec<u8>, gimli::Error> {
        match id {
            // Of no use for this, and large.
            SectionId::DebugLoc | SectionId::DebugLocLists | SectionId::DebugTypes => Ok(Vec::new()),
            id => Ok(file.section_by_name(id.name()).and_then(bytes).unwrap_or_default()),
        }
    };
    DwarfSections::load(load).ok()
}

/// Bytes as the parser reads them.
pub(crate) fn section(bytes: &[u8]) -> Section<'_> {
    Section::new(bytes, LittleEndian)
}

/// The bytes of a section, which may be compressed.
fn bytes<'data>(section: impl ObjectSection<'data>) -> Option<Vec<u8>> {
    let found = section.compressed_data().ok()?;
    match found.format {
        CompressionFormat::None => Some(found.data.to_vec()),
        CompressionFormat::Zlib => {
            let mut plain = Vec::new();
            ZlibDecoder::new(found.data).read_to_end(&mut plain).ok()?;
            Some(plain)
        }
        _ => None,
    }
}
